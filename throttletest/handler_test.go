package throttletest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// served is the upstream on a loopback port, and a transport for it.
func served(t *testing.T, u *Upstream) (url string, rt *http.Transport) {
	t.Helper()
	s := httptest.NewServer(u)
	rt = &http.Transport{}
	t.Cleanup(func() { rt.CloseIdleConnections(); s.Close() })
	return s.URL, rt
}

func TestHandlerAnswersAndRefuses(t *testing.T) {
	u := NewUpstream(WithLimits(SlidingLog(1, time.Hour)))
	url, rt := served(t, u)
	resp, body := post(t, rt, url+"/v1/chat/completions", `{"messages":[{"content":"ping"}]}`)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Contains(t, body, "You said: ping")
	assert.Equal(t, "req_1", resp.Header.Get("X-Request-Id"))
	resp, _ = post(t, rt, url+"/v1/chat/completions", `{}`)
	assert.Equal(t, 429, resp.StatusCode)
	assert.Equal(t, 1000.0, u.Stats().RefusedPer1000())
}
