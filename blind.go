package throttle

import (
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/internal/bank"
)

func (n network) bank() bank.Network { return bank.Network{Guard: n.guard, Latency: n.latency} }

// blind reports whether the calls of w are limited by nothing that was announced, so that refusals must tell how the server counts.
func (l *lane) blind(w *waiter) bool { return l.bank != nil && !w.mute }

// A few refusals under limits that are declared or announced are jitter, or what others drew; more of them, with few calls let in between, are a
// limit that nobody named.
const (
	trustRefusals = 4
	trustRegained = 1.0 / 100 // of a refusal, by each call let in
)

// watch starts or stops the bank of laws. Where nothing is declared or announced it is always there. Elsewhere what was said is believed
// until refusals have spoken against it.
func (l *lane) watch(w *waiter, a *answer) {
	if a.kind == refused && l.believes() {
		l.doubt(w, a)
	} else if !l.curbed {
		l.doubts = max(l.doubts-trustRegained, 0)
	}
	l.curbed = false
	switch {
	case l.bank == nil && (l.doubts >= trustRefusals || !l.believes()):
		l.bank = bank.New()
	case l.bank != nil && l.doubts == 0 && l.believes():
		l.bank = nil
	}
}

// doubt notes a refusal that nothing explains. One of a call that left before the last such refusal was here tells nothing new, nor
// does one of a row that may be an outage. One that says itself
// that plenty is left counts double: neither jitter nor others come to so much.
func (l *lane) doubt(w *waiter, a *answer) {
	if w.left.Before(l.doubted) || l.outage.inARow > 0 || l.explained(w, a.received) {
		return
	}
	l.doubted = a.received
	l.doubts++
	if plentyLeft(a.report) {
		l.doubts++
	}
	l.net.doubt()
	l.eachDeclared((*declared).doubt)
}

// plentyPart is the part of a limit that is plenty.
const plentyPart = 0.1

// plentyLeft reports whether an answer tells what is left of requests, and that it is plenty of each limit.
func plentyLeft(r *headers.Report) (plenty bool) {
	for _, q := range r.Quotas {
		if q.Unit != budget.Requests || !q.Remaining.Known || !q.Limit.Known {
			continue
		}
		if q.Remaining.Value < plentyPart*q.Limit.Value {
			return false
		}
		plenty = true
	}
	return plenty
}

// believes reports whether somebody has said what the limit on requests is.
func (l *lane) believes() bool {
	for _, m := range l.mirrors {
		if m.unit == budget.Requests {
			return true
		}
	}
	return l.declares()
}

// probe asks the bank when the next call may leave.
func (l *lane) probe(r *ruling, now time.Time) {
	at, alone := l.bank.At(now, l.flights.len, l.net.bank())
	if at.After(now.Add(longAway)) {
		at = never
	}
	if first := l.flights.oldest; first != nil && !l.answered { // the lone start ends without an answer
		if at = earliest(at, first.since.Add(loneStart)); !at.After(now) {
			return
		}
	}
	l.curbed = l.curbed || at.After(now)
	r.delay(at, CauseAdaptive, nil)
	r.alone = r.alone || alone
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// longAway is further than any law puts a call off: what lies beyond only an answer can bring about.
const longAway = 40 * 365 * 24 * time.Hour

// testify tells the bank what became of a call.
func (l *lane) testify(w *waiter, a *answer) {
	if l.bank == nil || w.bankID == 0 {
		return
	}
	if a.kind == refused {
		l.bank.Refused(w.bankID-1, a.received, a.report.RetryAfter.Value, a.report.RetryAfter.Known, l.net.bank())
	} else {
		l.bank.Admitted(w.bankID-1, a.received, l.net.bank())
	}
	w.bankID = 0
}

// lawNames are what the laws are called in a state.
var lawNames = map[bank.Kind]string{bank.InFlight: "calls in flight", bank.ClockWindow: "fixed window", bank.SlidingLog: "sliding log",
	bank.HarshLog: "sliding log, refusals counted", bank.Leak: "bucket", bank.Share: "share"}

// adaptive is what the bank believes, as a budget; false = nothing yet.
func (l *lane) adaptive() (BudgetState, bool) {
	if l.bank == nil {
		return BudgetState{}, false
	}
	s := l.bank.State(time.Time{})
	if s.Kind == bank.None {
		return BudgetState{}, false
	}
	b := BudgetState{Name: lawNames[s.Kind], Unit: budget.Requests, Source: SourceAdaptive, Limit: s.Limit, Window: s.Window, Used: -1, Available: -1}
	if s.Rate > 0 {
		b.Limit, b.Window = s.Rate, time.Second
	}
	return b, true
}

// declares reports whether the user has declared any limit for the key.
func (l *lane) declares() bool {
	return len(l.ofKey) > 0 || len(l.byRoute) > 0 || l.account != nil || len(l.accounts) > 0
}
