package redisbudget

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// server is a Redis of a test's own: a real one where the machine has it, else miniredis.
type server struct {
	t    testing.TB
	addr string
	args []string
	cmd  *exec.Cmd // nil for miniredis
	mini *miniredis.Miniredis
}

// binary is the real server, if there is one.
func binary() string {
	path, _ := exec.LookPath("redis-server")
	return path
}

// startRedis starts the server of a test, and stops it when that ends.
func startRedis(t testing.TB, args ...string) *server {
	t.Helper()
	s := &server{t: t, args: args}
	if binary() == "" {
		s.mini = miniredis.RunT(t)
		s.addr = s.mini.Addr()
		t.Log("no redis-server on PATH: this runs against miniredis")
		return s
	}
	t.Log("this runs against", binary())
	s.addr = freeAddr(t)
	s.start()
	t.Cleanup(s.kill)
	return s
}

// freeAddr is an address where nothing listens, below the ports that systems give to clients: else one of them, in search of a server that is
// gone, might take its place.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000))
		if l, err := net.Listen("tcp", addr); err == nil {
			require.NoError(t, l.Close())
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// start runs a real server, with an empty memory and a directory of its own, and waits until it answers.
func (s *server) start() {
	s.t.Helper()
	if s.mini != nil {
		s.mini.FlushAll()
		require.NoError(s.t, s.mini.Restart())
		return
	}
	_, port, err := net.SplitHostPort(s.addr)
	require.NoError(s.t, err)
	args := append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.t.TempDir()}, s.args...)
	s.cmd = exec.Command(binary(), args...)
	require.NoError(s.t, s.cmd.Start())
	require.Eventually(s.t, func() bool {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			return false
		}
		defer c.Close()
		_, _ = fmt.Fprint(c, "PING\r\n")
		buf := make([]byte, 7)
		_, err = c.Read(buf)
		return err == nil
	}, 20*time.Second, 10*time.Millisecond, "redis-server answers")
}

// kill ends the server as a crash would: at once, with all it remembered.
func (s *server) kill() {
	if s.mini != nil {
		s.mini.Close()
		return
	}
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// pause makes the server stand still, with all connections open, until resume.
func (s *server) pause() {
	if s.mini != nil {
		s.mini.Lock()
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
}

func (s *server) resume() {
	if s.mini != nil {
		s.mini.Unlock()
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
}

// client connects to the server; the test closes it.
func (s *server) client() *redis.Client { return connect(s.t, s.addr) }

func connect(t testing.TB, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, ReadTimeout: 3 * time.Second})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// store is a store on a server, as if in a process of its own.
func (s *server) store(opts ...Option) *Store {
	s.t.Helper()
	st, err := New(s.client(), append([]Option{WithTimeout(5 * time.Second)}, opts...)...)
	require.NoError(s.t, err)
	return st
}

// keys are all keys of the server.
func (s *server) keys() []string {
	s.t.Helper()
	keys, err := s.client().Keys(context.Background(), "*").Result()
	require.NoError(s.t, err)
	return keys
}

func env(name string) string { return os.Getenv("REDISBUDGET_TEST_" + name) }
