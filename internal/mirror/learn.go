package mirror

import "time"

// A call that flies this long, in typical latencies and at least in time, counts as ended though nobody said so, as soon as the air
// is thin enough to tell: a lane that forgets one must not blind the mirror for good.
const (
	patienceLatencies = 30
	patienceLeast     = 10 * time.Second
)

// Learn takes in one answer. Call it for every call that left, also one whose answer said nothing of this quota or never
// came (an empty Quota): from it the mirror knows that the call is no longer on its way.
func (m *Mirror) Learn(a Answer, net Network) {
	r := m.read(&a, net)
	m.turn(r.sent)
	m.end(&r, net)
	m.emptied = r.refused && r.counted && r.left < r.cost
	if r.refused {
		m.denied.add(r.received, r.cost)
		m.window.doubtful += r.cost
	}
	if empty(&a) {
		m.silent++
		m.window.doubtful += r.cost
		return
	}
	m.known, m.silent = true, 0
	m.adopt(&a, &r)
	m.length.hear(&r, m.window.edge.late)
	m.journal.keep = m.length.value + 2*net.Latency
	m.denied.keep = m.journal.keep
	m.log.guard = m.logGuard(net)
	m.told = m.told || a.Quota.Remaining.Known || a.Quota.Reset.Known
	if !m.told && m.length.told {
		m.law, m.log.proven = logLaw, true // all there is to go by: a log admits no more than a window or a bucket
	}
	m.judge(&r, net)
	m.newest, m.heard = max(m.newest, r.sent), max(m.heard, r.received)
}

// end counts the call as no longer on its way, and with it all that left too long ago.
func (m *Mirror) end(r *reading, net Network) {
	patience := max(patienceLatencies*net.Latency, patienceLeast)
	m.sends.keep, m.ends.keep = patience, patience
	old := m.sends.upTo(r.received - patience)
	if r.sent > r.received-patience {
		old += r.cost
	}
	ended := min(max(m.ends.total+r.cost, old), m.sends.total)
	m.ends.add(r.received, ended-m.ends.total)
}

// empty says whether the answer told nothing: no number at all, or the zeros that some servers send when they do not count.
func empty(a *Answer) bool {
	q := &a.Quota
	if !q.Limit.Known && !q.Remaining.Known && !q.Reset.Known {
		return true
	}
	zeros := q.Limit.Known && q.Limit.Value == 0 && q.Remaining.Value == 0 && q.Reset.Value == 0
	return zeros && !a.Refused
}

// adopt takes over an announced limit from the newest answer. A changed one makes what was known of the supply worthless.
func (m *Mirror) adopt(a *Answer, r *reading) {
	q := a.Quota.Limit
	if !q.Known || q.Value <= 0 || r.sent < m.newest || q.Value == m.limit {
		return
	}
	if m.limit > 0 {
		m.window.forget()
		m.bucket.resize(q.Value / m.limit)
		m.late.resize(q.Value / m.limit)
		m.others.forget()
		m.filling, m.word = filling{}, word{}
	}
	m.limit = q.Value
}

// judge lets every part of the mirror see the reading.
func (m *Mirror) judge(r *reading, net Network) {
	if m.hollow.yes() {
		m.learnHollow(r)
		return
	}
	if r.counted {
		if r.regrid {
			m.window.forget()
			m.others = sharing{} // what was seen of them may have been the rounding
		}
		m.contact.hear(r)
		m.word.hear(r)
		m.filling.hear(r)
		m.late.hear(r, max(net.Guard, 1))
		m.reserve.hear(r, m.length.value)
	}
	switch m.law {
	case bucketLaw:
		m.learnBucket(r)
	case logLaw:
		m.learnLog(r, net)
	default:
		m.learnWindow(r, net)
	}
}
