package throttle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-18ca0a92/throttle/headers"
)

// mostPaths bounds what is remembered of which path belongs to which resource; an API with more distinct paths than that has ids in them,
// and those share their prefix.
const mostPaths = 4096

// resources tells the resources of a host apart: pools that share nothing though they share a host, such as core, search and graphql at
// GitHub, or the buckets of Discord. Which call belongs where is learned from the answers: each names its own. The zero value
// knows of none.
type resources struct {
	byPath map[string]string // by method and path, and by every prefix of the path; nil while the host has only one resource
}

// of is the resource that a call is expected to belong to: that of the same call before, else that of the call with the longest common path.
func (r *resources) of(w *waiter) string {
	if r.byPath == nil {
		return "" // almost always
	}
	path := w.path()
	if path == "" {
		return ""
	}
	if name, ok := r.byPath[methodOf(w.req)+" "+path]; ok {
		return name
	}
	for p := path; p != ""; p = parent(p) {
		if name, ok := r.byPath[p]; ok {
			return name
		}
	}
	return r.byPath["/"]
}

// learn notes that a call belonged to a resource.
func (r *resources) learn(w *waiter, name string) {
	path := w.path()
	if path == "" {
		return
	}
	if r.byPath == nil || len(r.byPath) >= mostPaths {
		r.byPath = map[string]string{}
	}
	r.byPath[methodOf(w.req)+" "+path] = name
	for p := path; p != ""; p = parent(p) {
		r.byPath[p] = name
	}
	if _, ok := r.byPath["/"]; !ok {
		r.byPath["/"] = name
	}
}

// path is where a call goes; empty under Acquire.
func (w *waiter) path() string {
	if w.req == nil {
		return ""
	}
	return w.req.URL.Path
}

// parent is a path without its last segment; empty at the top.
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// separate notes from an answer which quotas are resources of their own. Quotas of one unit that are told together concern every call; those
// that never are, though each has a name, stand apart.
func (l *lane) separate(w *waiter, a *answer) (news bool) {
	named := l.named(a.report)
	if named == nil {
		return false
	}
	for _, m := range l.mirrors {
		if m == named || m.unit != named.unit || m.name == "" || m.beside || named.beside {
			continue
		}
		if m.told != nil {
			news = news || m.apart || named.apart
			m.beside, named.beside, m.apart, named.apart = true, true, false, false
		} else if !m.apart || !named.apart {
			m.standApart(l.sends)
			named.standApart(l.sends)
			news = true
		}
	}
	if named.apart {
		if l.resources.byPath == nil { // what went before went elsewhere
			l.resources.byPath = map[string]string{}
			for _, m := range l.mirrors {
				if m != named && m.apart && m.unit == named.unit {
					l.resources.byPath["/"] = m.name
					break
				}
			}
		}
		l.resources.learn(w, named.name)
	}
	return news
}

// resort puts those who wait into the classes that their calls are now expected to belong to: else, once every quota stands apart, they would
// wait for none, and leave all at once.
func (l *lane) resort() error {
	var all []*waiter
	for _, c := range l.order {
		c.queue.each(func(w *waiter) {
			if l.resources.of(w) != c.id.resource {
				all = append(all, w)
			}
		})
	}
	slices.SortFunc(all, func(a, b *waiter) int { return cmp.Compare(a.seq, b.seq) })
	for _, w := range all {
		to, err := l.classOf(w)
		if err != nil {
			return err
		}
		w.class.queue.remove(w)
		w.class = to
		to.queue.push(w)
	}
	return nil
}

// standApart makes a quota concern only the calls to its resource, from the one after sent on.
func (a *announced) standApart(sent uint64) {
	if !a.apart {
		a.apart, a.joint = true, sent
	}
}

// named is the mirror of the first quota in a report that has a name.
func (l *lane) named(r *headers.Report) *announced {
	for i := range r.Quotas {
		if r.Quotas[i].Name == "" {
			continue
		}
		if m := l.mirrorOf(&r.Quotas[i]); m != nil {
			return m
		}
	}
	return nil
}

// covers reports whether a quota concerns the calls of a class.
func (a *announced) covers(c *class) bool { return !a.apart || a.name == c.id.resource }
