package throttle

import (
	"net/http"
	"time"
)

// ampleTime is how long an answer that left half of everything speaks for those that follow it. It is a small part of a round trip, for which nobody
// knows better anyway. A thousand calls a second pay for reading a tenth of their answers then, and a hundred thousand for a thousandth.
const ampleTime = 10 * time.Millisecond

// skims reports whether an answer need not be read, and takes note then that it has come: it is a success among others that left enough of everything,
// it asks for no wait, and no function of the user's is to see it.
func (x *exchange) skims(resp *http.Response) bool {
	cfg, l := x.t.cfg, x.lane
	if resp.StatusCode/100 != 2 || cfg.report != nil || cfg.verdict != nil || x.received.Sub(l.born) >= time.Duration(l.ample.Load()) {
		return false
	}
	return resp.Header["Retry-After"] == nil && l.skim(&x.w, x.received)
}

// skim takes note that the answer of a call has come, and of nothing that it says; unless the call went elsewhere than the one whose answer was read,
// for it may have to tell of another quota.
func (l *lane) skim(w *waiter, now time.Time) bool {
	l.lock()
	defer l.mu.Unlock()
	if l.ampleAt != placeOf(w) {
		return false
	}
	t := w.ticket
	l.gate.answered(t)
	l.answer(t)
	for _, m := range l.mirrors {
		if m.spent(t) {
			m.mirror.End(now, t.cost.of(m.unit))
		}
	}
	if l.waiting > 0 {
		l.pump(time.Now())
	}
	return true
}

// place is where calls go whose answers tell of the same quotas.
type place struct{ method, path string }

func placeOf(w *waiter) place { return place{methodOf(w.req), w.path()} }

// gauge notes how long the answers that follow that of w need not be read.
func (l *lane) gauge(w *waiter, a *answer) {
	var until time.Duration
	if a.status/100 == 2 && a.kind == final && l.leavesAmple(a.received) {
		until = a.received.Sub(l.born) + ampleTime
		l.ampleAt = placeOf(w)
	}
	l.ample.Store(int64(until))
}

// leavesAmple reports whether there is much left of everything that is announced, and nothing else to be learned.
func (l *lane) leavesAmple(now time.Time) bool {
	if len(l.mirrors) == 0 || l.waiting > 0 || l.bank != nil || l.doubts > 0 || l.outage.inARow > 0 || l.gate.state != open ||
		l.foresees || l.resources.byPath != nil {
		return false
	}
	for _, m := range l.mirrors {
		if m.silent > 0 || !m.mirror.Ample(now) {
			return false
		}
	}
	return true
}
