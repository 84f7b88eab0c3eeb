package headers

import (
	"net/http"
	"strings"
	"time"
)

// names writes each quota under names of its own.
func (w *writer) names(q []Quota, sp spelling) {
	first := -1
	if sp.plain {
		if first = firstRequests(q); first >= 0 {
			w.plain(&q[first], sp)
		}
	}
	for i := range q {
		if i != first {
			w.qualified(&q[i], sp)
		}
	}
}

// plain writes the quota that needs no qualifier.
func (w *writer) plain(q *Quota, sp spelling) {
	w.set(sp.prefix+"Limit", count(q.Limit))
	w.set(sp.prefix+"Remaining", count(q.Remaining))
	w.set(sp.prefix+"Reset", w.reset(q.Reset, sp.reset))
	w.set(sp.prefix+"Period", span(q.Window))
	w.set(sp.prefix+"Name", q.Name)
}

func (w *writer) qualified(q *Quota, sp spelling) {
	w.set(sp.name(limitFact, q), count(q.Limit))
	w.set(sp.name(remainingFact, q), count(q.Remaining))
	w.set(sp.name(resetFact, q), w.reset(q.Reset, sp.reset))
}

// name is the header for one fact of q, "" if a reader would take it for something else.
func (sp spelling) name(f fact, q *Quota) string {
	want := subject{unit: q.Unit, name: q.Name, window: q.Window}
	if want.unit == "" {
		want.unit = requests
	}
	name := http.CanonicalHeaderKey(sp.compose(f, want))
	if !isCanonical(name) {
		return ""
	}
	p, rest := prefixOf(name)
	if gotFact, got := p.subject(rest); gotFact != f || got != want {
		return ""
	}
	return name
}

// compose puts the words of a name together: Limit-Project-Tokens-Minute, or Tokens-Limit.
func (sp spelling) compose(f fact, s subject) string {
	words := make([]string, 0, 4)
	prefix := sp.prefix
	switch {
	case s.name != "" && sp.named != "":
		prefix = sp.named + s.name + "-"
	case s.name != "":
		words = append(words, s.name)
	}
	words = append(words, strings.ReplaceAll(s.unit, "_", "-"))
	if s.window.Known {
		words = append(words, windowWord(s.window.Value))
	}
	if sp.unitFirst {
		words = append(words, factWord(f))
	} else {
		words = append([]string{factWord(f)}, words...)
	}
	return prefix + strings.Join(words, "-")
}

func factWord(f fact) string {
	switch f {
	case limitFact:
		return "limit"
	case remainingFact:
		return "remaining"
	}
	return "reset"
}

// windowWord is the word for a window, one that no reader knows for all but four.
func windowWord(d time.Duration) string {
	switch d {
	case time.Second:
		return "second"
	case time.Minute:
		return "minute"
	case time.Hour:
		return "hour"
	case day:
		return "day"
	}
	return "window"
}

// gitHub writes one quota, named by its resource.
func (w *writer) gitHub(q []Quota) {
	i := firstRequests(q)
	if i < 0 {
		return
	}
	w.plain(&Quota{Limit: q[i].Limit, Remaining: q[i].Remaining, Reset: q[i].Reset}, spellings[XRateLimitEpoch])
	w.set("X-Ratelimit-Resource", q[i].Name)
	if q[i].Limit.Known && q[i].Remaining.Known {
		w.set("X-Ratelimit-Used", count(Some(max(q[i].Limit.Value-q[i].Remaining.Value, 0))))
	}
}

// discord writes one quota, named by its bucket, and its reset in both ways.
func (w *writer) discord(q []Quota) {
	i := firstRequests(q)
	if i < 0 {
		return
	}
	w.set("X-Ratelimit-Limit", count(q[i].Limit))
	w.set("X-Ratelimit-Remaining", count(q[i].Remaining))
	w.set("X-Ratelimit-Reset", w.reset(q[i].Reset, resetEpochFraction))
	w.set("X-Ratelimit-Reset-After", w.reset(q[i].Reset, resetFraction))
	w.set("X-Ratelimit-Bucket", q[i].Name)
}
