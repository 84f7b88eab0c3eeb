package mirror

// shortest is how long, in latencies, a window or a log must be at least to be recognised.
const shortest = 2

// foreignSlack is the part of a limit that others may have taken of a fresh window before our first call reached it.
const foreignSlack = 0.02

// prove reads from the first answer after an edge how the server counts. A window is full but for what was sent since the
// edge; a log lacks what we sent in the last length; anything else refills. What both a window and a log admit is taken for a
// log, which never admits more.
func (m *Mirror) prove(r *reading, net Network) law {
	if !r.counted || r.limit <= 0 {
		return m.law
	}
	if m.others.present(r.received) {
		return m.proveShared(r)
	}
	if m.length.value < shortest*net.Latency && !m.length.told {
		return bucketLaw // what comes and goes while an answer is on its way can only be followed by what is left
	}
	full, fit := m.full(r, net), m.logFit(r, net)
	switch {
	case full && (fit == refuted || m.law == windowLaw):
		return windowLaw
	case fit != refuted:
		m.log.proven = m.log.proven || fit == telling
		return logLaw
	default:
		return bucketLaw
	}
}

// proveShared is for a quota that others draw on too: what is used says nothing of our own sends. A window gives most of it
// back at once.
func (m *Mirror) proveShared(r *reading) law {
	if r.received >= m.window.edge.low && r.used() < m.window.used/2 {
		return windowLaw
	}
	return m.law
}

// full says whether the answer leaves what a fresh window would: all but what left since the edge passed at the latest. Where
// more has left since it passed at the earliest, much must have come back in a short time.
func (m *Mirror) full(r *reading, net Network) bool {
	w := &m.window
	if r.received < w.edge.low {
		return false
	}
	at, _, _ := m.edgeOf()
	sent, slack := m.sends.within(r.sent+net.Guard), foreignSlack*r.limit+r.slack
	if r.used() <= max(r.cost, sent-m.ends.upTo(at))+slack {
		return true
	}
	return r.used() <= sent-m.ends.upTo(w.edge.low)+slack && m.leapt(r)
}

// leap is how many times faster than evenly a window gives back.
const leap = 2

// leapt says whether much more came back since the answer before than a bucket gives back in that time.
func (m *Mirror) leapt(r *reading) bool {
	gap := r.received - m.window.seen
	return m.length.value > 0 && m.window.used-r.used() > leap*r.limit*secs(gap)/secs(m.length.value)
}

// fit is how well an answer agrees with a sliding log.
type fit uint8

const (
	refuted  fit = iota // no order of arrival explains it
	possible            // some does
	telling             // so does the likely one, and hardly any other law would
)

// logFit compares what is used with what a log would still hold of ours.
func (m *Mirror) logFit(r *reading, net Network) fit {
	start := r.sent - m.length.value
	denied := m.deniedSince(start)
	least := m.sends.upTo(r.sent-net.Guard) + r.cost - m.journal.within(start+net.Guard) - denied
	most := m.sends.within(r.sent+net.Guard) - m.journal.upTo(start-net.Guard)
	if m.logHolds(r, least, most) {
		if !r.refused && m.journal.upTo(start) > 0 && most-least <= max(2, tellingWidth*r.limit) {
			return telling
		}
		return possible
	}
	least = m.ends.upTo(r.sent-1) + r.cost - m.journal.within(r.received-m.length.value) - denied
	most = m.sends.within(r.received) - m.journal.upTo(start-net.Latency)
	if m.logHolds(r, least, most) {
		return possible
	}
	return refuted
}

// tellingWidth is the part of the limit that the guard may leave open when an answer is to tell a log: it must have been
// admitted, and something of ours must have come back by then.
const tellingWidth = 0.05

// logHolds says whether a log that holds between least and most of ours could give this answer.
func (m *Mirror) logHolds(r *reading, least, most float64) bool {
	admits := r.refused || least <= r.limit+r.slack
	return admits && r.used() >= least-1-r.slack && r.used() <= most+1+r.slack
}

// deniedSince is what was refused of ours since t.
func (m *Mirror) deniedSince(t moment) float64 { return m.denied.total - m.denied.upTo(t) }
