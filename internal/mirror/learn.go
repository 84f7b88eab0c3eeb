package mirror

import (
	"math"
	"time"
)

// patience is how long, in typical latencies and at least in seconds, a call may fly before it counts as ended though nobody
// said so: a lane that forgets one must not blind the mirror for good.
const (
	patienceLatencies = 30
	patienceLeast     = 10 * time.Second
)

// Learn takes in one answer. Call it for every call that left, also one whose answer said nothing of this quota or never
// came (an empty Quota): from it the mirror knows that the call is no longer on its way.
func (m *Mirror) Learn(a Answer, net Network) {
	r := m.read(a, net)
	m.turn(r.sent)
	m.sends.grain = net.Latency / (historyCap / 2)
	m.end(r, net)
	if empty(a) {
		m.silent++
		return
	}
	m.silent = 0
	m.mute = a.Refused && r.counted && r.left < a.Cost
	m.relimit(a, r)
	m.first.answered(r)
	m.length.stretch(a.Quota, r)
	m.journal.grain = m.length.value / historyCap
	m.known = true
	if m.limit > 0 {
		m.fill.hear(r, m.limit-r.left)
	}
	switch m.law {
	case bucketLaw:
		m.learnBucket(r)
	case logLaw:
		m.learnLog(r, net)
	default:
		m.learnWindow(r, net)
	}
	m.news, m.heard = max(m.news, r.sent), max(m.heard, r.received)
}

// end counts the call as no longer on its way.
func (m *Mirror) end(r reading, net Network) {
	m.ends.grain = m.sends.grain
	old := m.sends.upTo(r.received - max(patienceLatencies*net.Latency, patienceLeast))
	n := max(m.ends.total+r.cost, old)
	m.ends.add(r.received, min(n, m.sends.total)-m.ends.total)
}

// empty says whether the answer told nothing: no number at all, or the zeros that some servers send when they do not count.
func empty(a Answer) bool {
	q := a.Quota
	if !q.Remaining.Known && !q.Reset.Known {
		return true
	}
	zeros := q.Remaining.Value == 0 && q.Reset.Value == 0 && q.Limit.Known && q.Limit.Value == 0
	return zeros && !a.Refused
}

// relimit adopts an announced limit from the newest answer. A changed one makes the window's old supply worthless.
func (m *Mirror) relimit(a Answer, r reading) {
	q := a.Quota.Limit
	if !q.Known || q.Value <= 0 || r.sent < m.news || q.Value == m.limit {
		return
	}
	if m.limit > 0 {
		m.win.forget()
		m.buk.scale(q.Value / m.limit)
		m.buk.sent = r.sent - 1
	}
	m.limit = q.Value
}

// limitOr is the limit, or without bound if none was told.
func (m *Mirror) limitOr() float64 {
	if m.limit > 0 {
		return m.limit
	}
	return math.Inf(1)
}
