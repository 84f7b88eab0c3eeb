package throttle

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The short way to a host's one spelling never differs from the long one.
func TestPlainHostsAreSpelledCanonically(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &url.URL{
			Scheme: rapid.SampledFrom([]string{"http", "https"}).Draw(t, "scheme"),
			Host:   rapid.StringMatching(`[a-zA-Zé.\[\]-]{0,6}(:[0-9:]{0,3}|:80|:443)?`).Draw(t, "host"),
		}
		if plainHost(u.Host) {
			assert.Equal(t, canonicalHost(u), ByHost(&http.Request{URL: u}))
		}
	})
}

func TestPortsBelongToHosts(t *testing.T) {
	for url, want := range map[string]string{
		"http://api.example:8080/v1":    "api.example:8080",
		"http://api.example:80/v1":      "api.example",
		"https://api.example:443":       "api.example",
		"http://api.example:443":        "api.example:443",
		"http://API.example:8080":       "api.example:8080",
		"http://api.example.:8080":      "api.example:8080",
		"http://[::1]:8080":             "[::1]:8080",
		"http://[::1]":                  "[::1]",
		"http://api.example:":           "api.example",
		"http://xn--bcher-kva.de:8080/": "xn--bcher-kva.de:8080",
	} {
		req, err := http.NewRequest(http.MethodGet, url, nil)
		if assert.NoError(t, err) {
			assert.Equal(t, want, ByHost(req), url)
		}
	}
}
