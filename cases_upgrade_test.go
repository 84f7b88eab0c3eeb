package throttle

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo answers an upgrade with a connection that sends back each line.
func echo(_ int, w http.ResponseWriter, r *http.Request) {
	c, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	rw.Flush()
	for {
		line, err := rw.ReadString('\n')
		if err != nil {
			return
		}
		rw.WriteString(line)
		rw.Flush()
	}
}

func upgrade(t *testing.T, rt http.RoundTripper, url string) *http.Response {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	return resp
}

func converse(t *testing.T, c io.ReadWriter) {
	_, err := io.WriteString(c, "hello\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "hello\n", line)
}

func TestSTR01UpgradedConnectionCanBeWrittenTo(t *testing.T) {
	s := listen(t, echo)
	_, tr := client(t, s.base, WithMaxInFlight(1), WithVerdict(func(_ *http.Response, peek func() []byte) Verdict {
		assert.Nil(t, peek, "a connection is not looked into")
		return ByDefault
	}))
	resp := upgrade(t, tr, s.URL)
	conn, ok := resp.Body.(io.ReadWriteCloser)
	require.True(t, ok)
	converse(t, conn)

	second := make(chan *http.Response)
	go func() { second <- upgrade(t, tr, s.URL) }()
	key := mustHost(t, s.URL)
	require.Eventually(t, func() bool { st, _ := tr.State(key); return st.Waiting == 1 }, 10*time.Second, time.Millisecond)
	conn.Close()
	again := <-second
	converse(t, again.Body.(io.ReadWriter))
	again.Body.Close()
	st, _ := tr.State(key)
	assert.Zero(t, st.InFlight)
}

func TestSTR01UpgradePassesThroughAReverseProxy(t *testing.T) {
	s := listen(t, echo)
	_, tr := client(t, s.base, WithMaxInFlight(1))
	target, err := url.Parse(s.URL)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: tr})
	defer proxy.Close()
	outer := &http.Transport{}
	defer outer.CloseIdleConnections()
	resp := upgrade(t, outer, proxy.URL)
	converse(t, resp.Body.(io.ReadWriter))
	resp.Body.Close()
	require.Eventually(t, func() bool { st, _ := tr.State(target.Host); return st.InFlight == 0 }, 10*time.Second, time.Millisecond)
}

func mustHost(t *testing.T, s string) string {
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u.Host
}
