package throttle

import (
	"net/http"
	"time"
)

// ampleTime is how long an answer that left half of everything speaks for those that follow it: calls that are no further apart than the least guard
// may have arrived in any order, so what each leaves tells nothing that the first has not told. A thousand calls a second pay for reading half of their
// answers then, and a hundred thousand for half a percent of them.
const ampleTime = 10 * time.Millisecond

// skims reports whether an answer need not be read: it is a success among others that left enough of everything, and no function of the user's is to
// see it.
func (x *exchange) skims(resp *http.Response) bool {
	cfg := x.t.cfg
	return resp.StatusCode/100 == 2 && cfg.report == nil && cfg.verdict == nil && x.received.Sub(x.lane.born) < time.Duration(x.lane.ample.Load())
}

// skim takes note that the answer of a call has come, and of nothing that it says.
func (l *lane) skim(t *ticket, now time.Time) {
	l.lock()
	l.gate.answered(t)
	l.answer(t)
	for _, m := range l.mirrors {
		if m.spent(t) {
			m.mirror.End(now, t.cost.of(m.unit))
		}
	}
	if l.waiting > 0 {
		l.pump(now)
	}
	l.mu.Unlock()
}

// gauge notes how long the answers that follow a need not be read.
func (l *lane) gauge(a *answer) {
	var until time.Duration
	if a.status/100 == 2 && a.kind == final && l.leavesAmple(a.received) {
		until = a.received.Sub(l.born) + ampleTime
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
