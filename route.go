package throttle

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-18ca0a92/throttle/budget"
)

// maxRoutes bounds the routes of one transport, so that the set of those that match is a small comparable value.
const maxRoutes = 256

// routeSet is the set of routes that match a request, by index.
type routeSet [maxRoutes / 64]uint64

func (s *routeSet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *routeSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// route is a pattern taken apart, and the limits it declares.
type route struct {
	pattern  string
	methods  []string // empty = any
	host     string   // empty = any
	segments []string // literal, or empty for a wildcard
	prefix   string   // the literal segments at the front, each with its slash: most requests differ there already
	literal  int      // how many those are
	subtree  bool     // a trailing slash: whatever follows matches too
	policies []budget.Policy
	key      string // what ByRoute adds to the host
}

type routes []route

// parseRoute reads "[METHOD[,METHOD] ][host]/path".
func parseRoute(pattern string) (route, error) {
	r := route{pattern: pattern}
	rest := strings.TrimSpace(pattern)
	if methods, after, ok := strings.Cut(rest, " "); ok {
		for _, m := range strings.Split(methods, ",") {
			if m == "" || strings.ToUpper(m) != m || strings.Contains(m, "/") {
				return r, fmt.Errorf("pattern %q: want METHOD[,METHOD] in capitals before the blank, got %q", pattern, methods)
			}
			r.methods = append(r.methods, m)
		}
		rest = strings.TrimSpace(after)
	}
	if _, bare, ok := strings.Cut(rest, "://"); ok {
		return r, fmt.Errorf("pattern %q: it holds for every scheme: write %q", pattern, bare)
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return r, fmt.Errorf("pattern %q: want a path that begins with /, such as \"GET api.example.com/search/\"", pattern)
	}
	err := r.readHost(rest[:slash])
	if err == nil {
		err = r.readPath(rest[slash+1:])
	}
	if err != nil {
		return r, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return r, nil
}

// readHost reads a host, which may be empty, in the spelling of ByHost. A single word is more often a path whose slash was forgotten: that it is
// a host is said by the dot at its end, as in DNS, or by a port.
func (r *route) readHost(host string) error {
	switch {
	case host == "":
		return nil
	case strings.ContainsAny(host, "*{}"):
		return fmt.Errorf("a host has no wildcards, got %q", host)
	case !strings.ContainsAny(host, ".:") && !strings.EqualFold(host, "localhost"):
		return fmt.Errorf("is %q a host? A path begins with /, and a host of one word ends with a dot: %q", host, host+".")
	}
	u := url.URL{Scheme: "http", Host: host}
	if u.Port() == "443" {
		u.Scheme = "https"
	}
	r.host = canonicalHost(&u)
	return nil
}

func (r *route) readPath(path string) error {
	if strings.ContainsAny(path, " ?#") {
		return fmt.Errorf("a path holds no blank, ? or #: %q", path)
	}
	if path == "" {
		r.subtree = true
		return nil
	}
	if strings.HasSuffix(path, "/") {
		r.subtree, path = true, path[:len(path)-1]
	}
	for _, s := range strings.Split(path, "/") {
		open, end := strings.Contains(s, "{"), strings.Contains(s, "}")
		switch {
		case strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}"):
			s = ""
		case open || end:
			return fmt.Errorf("a {wildcard} is a whole segment, got %q", s)
		case s == "":
			return fmt.Errorf("an empty segment")
		}
		r.segments = append(r.segments, s)
		if s != "" && r.literal == len(r.segments)-1 {
			r.prefix += "/" + s
			r.literal++
		}
	}
	return nil
}

// match reports whether r covers a request. It takes apart nothing and allocates nothing.
func (r *route) match(method, host string, path requestPath) bool {
	rest := path.text
	segments := r.segments
	if !path.escaped {
		if !strings.HasPrefix(rest, r.prefix) {
			return false
		}
		rest, segments = rest[len(r.prefix):], segments[r.literal:]
	}
	if r.host != "" && r.host != host || len(r.methods) > 0 && !slices.Contains(r.methods, method) {
		return false
	}
	return r.matchPath(segments, rest)
}

func (r *route) matchPath(segments []string, path string) bool {
	for _, want := range segments {
		if path == "" || path[0] != '/' {
			return false
		}
		end := 1
		for end < len(path) && path[end] != '/' { // segments are short: quicker than a search
			end++
		}
		got := path[1:end]
		path = path[end:]
		if got == "" || want != "" && want != got && !escaped(got, want) {
			return false
		}
	}
	return path == "" || r.subtree && path[0] == '/'
}

// escaped reports whether got, a segment in its escaped form, stands for want.
func escaped(got, want string) bool {
	if strings.IndexByte(got, '%') < 0 {
		return false
	}
	plain, err := url.PathUnescape(got)
	return err == nil && plain == want
}

// requestPath is the path of a request, with its segments as the client meant them: an escaped slash does not divide.
type requestPath struct {
	text    string
	escaped bool // as it goes over the wire, and not as plain text
}

func pathOf(req *http.Request) requestPath {
	if req.URL.RawPath != "" {
		return requestPath{req.URL.RawPath, true}
	}
	return requestPath{text: req.URL.Path}
}

// set is the set of routes that cover req.
func (rs routes) set(req *http.Request) (s routeSet) {
	if len(rs) == 0 || req == nil || req.URL == nil {
		return s
	}
	method, host, path := methodOf(req), ByHost(req), pathOf(req)
	for i := range rs {
		if rs[i].match(method, host, path) {
			s.add(i)
		}
	}
	return s
}

// first is the index of the first route that covers req, or -1.
func (rs routes) first(req *http.Request) int {
	if req == nil || req.URL == nil {
		return -1
	}
	method, host, path := methodOf(req), ByHost(req), pathOf(req)
	for i := range rs {
		if rs[i].match(method, host, path) {
			return i
		}
	}
	return -1
}

func methodOf(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return req.Method
}
