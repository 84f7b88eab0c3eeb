package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// target is where requests go, and what opens the door there.
type target struct {
	url    string
	header http.Header
	secret string
}

const chatPath = "/chat/completions"

// newTarget reads -url and the key.
func newTarget(s *settings, env func(string) string) (*target, error) {
	u, err := baseOf(s)
	if err != nil {
		return nil, err
	}
	t := &target{url: u.String(), header: http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"chatbatch"},
	}}
	t.secret, err = readKey(s, env, u.Hostname())
	if err != nil {
		return nil, err
	}
	if t.secret != "" {
		t.header.Set(s.keyHeader, withScheme(s.keyHeader, t.secret))
	}
	return t, nil
}

// baseOf reads -url.
func baseOf(s *settings) (*url.URL, error) {
	u, err := parseBase(s.url)
	if err != nil {
		return nil, fmt.Errorf("-url: %w", err)
	}
	return u, nil
}

func withScheme(header, key string) string {
	if strings.EqualFold(header, "Authorization") {
		return "Bearer " + key
	}
	return key
}

// parseBase completes a base to the address of the chat endpoint: a host alone gets /v1/chat/completions, a path gets /chat/completions, and a
// whole address stays as it is.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, errors.New("it is not an address such as https://api.example.com/v1")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("%q is not an address that begins with http:// or https://", u.Redacted())
	case u.User != nil:
		return nil, errors.New("no user or password may stand in the address: the key comes from the environment")
	}
	path := strings.TrimSuffix(u.Path, "/")
	switch {
	case strings.HasSuffix(path, chatPath):
	case path == "":
		path = "/v1" + chatPath
	default:
		path += chatPath
	}
	u.Path, u.RawPath, u.Fragment = path, "", ""
	return u, nil
}

// readKey takes the key from the environment. A server on this machine needs none unless one is named.
func readKey(s *settings, env func(string) string, host string) (string, error) {
	if s.keyEnv == "" {
		return "", nil
	}
	key := strings.TrimSpace(env(s.keyEnv))
	if key == "" && (s.given["key-env"] || !isLoopback(host)) {
		return "", fmt.Errorf("the environment variable %s is not set: put the API key there, or name another with -key-env (\"\" for no key)", s.keyEnv)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", fmt.Errorf("the environment variable %s holds characters that no key has", s.keyEnv)
	}
	return key, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// reachTimeout is how long a server may take to accept a connection before it counts as not there.
const reachTimeout = 10 * time.Second

// reach connects to the target's host and hangs up, so that a wrong address is one sentence and not a failure of every line. Behind a proxy it
// leaves that to the requests.
func (t *target) reach(ctx context.Context) error {
	u, err := url.Parse(t.url)
	if err != nil {
		return err
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil || proxy != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // the resolver knows http and https
	}
	dialer := net.Dialer{Timeout: reachTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("-url: the server cannot be reached: %w", err)
	}
	return conn.Close()
}
