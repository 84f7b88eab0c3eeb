package throttle

import (
	"net/http"
	"net/url"
	"strings"
)

// ByHost is the host of the URL in its one spelling: lower case, in ASCII, without the scheme's own port and without a trailing dot.
func ByHost(req *http.Request) string {
	if req == nil || req.URL == nil {
		return ""
	}
	if plainHost(req.URL.Host) {
		return req.URL.Host
	}
	return canonicalHost(req.URL)
}

// plainHost reports whether h is spelled canonically already, which almost every host is: this keeps the hot path free of copies.
func plainHost(h string) bool {
	name, port, ported := strings.Cut(h, ":")
	if ported && !plainPort(port) {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; 'A' <= c && c <= 'Z' || c >= punyFirstRune {
			return false
		}
	}
	return name != "" && name[len(name)-1] != '.'
}

// plainPort reports whether p can be no scheme's own port.
func plainPort(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] < '0' || p[i] > '9' {
			return false
		}
	}
	return p != "" && p != "80" && p != "443"
}

func canonicalHost(u *url.URL) string {
	name, port := asciiHost(strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))), u.Port()
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == "" || port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		return name
	}
	return name + ":" + port
}

// ByHostAndCredential is ByHost with a short hash of whoever calls, for APIs that limit each credential by itself. It looks at the
// Authorization header, the usual API-key headers and the usual query parameters; the secret itself never becomes part of the key.
func ByHostAndCredential(req *http.Request) string {
	host := ByHost(req)
	if req == nil {
		return host
	}
	if id := credential(req); id != "" {
		return host + "#" + shortHash(id)
	}
	return host
}

// ByRoute gives each pattern a quota of its own beside that of the host: the key is the host and the first pattern that matches. For
// pools that share nothing, such as GitHub's search or a strict login endpoint. The notation is that of WithRoute; a pattern that cannot
// be read panics here, as it does in http.ServeMux, since a key function has nobody to return an error to.
func ByRoute(patterns ...string) func(*http.Request) string {
	var rs routes
	for _, p := range patterns {
		r, err := parseRoute(p)
		if err != nil {
			panic("throttle: ByRoute: " + err.Error())
		}
		r.key = " " + p
		rs = append(rs, r)
	}
	return func(req *http.Request) string {
		host := ByHost(req)
		if i := rs.first(req); i >= 0 {
			return host + rs[i].key
		}
		return host
	}
}
