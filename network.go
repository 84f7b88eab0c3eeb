package throttle

import "time"

// The guard is one allowance for everything that makes requests arrive in another rhythm than they left: a third of the least round
// trip, since a path's jitter grows with its length, but no less than timers are late and no more than a call is worth.
const (
	guardPart = 3
	guardMin  = 2 * time.Millisecond
	guardMax  = 50 * time.Millisecond
)

// latencyWeight smooths the latency as TCP smooths its round-trip time (RFC 6298): an eighth of each new sample, and a quarter
// for the mean deviation.
const (
	latencyWeight = 8
	spreadWeight  = 4 // likewise, for the mean deviation
)

// network is what a lane knows of the way to its server. The zero value knows nothing, and asks for no guard.
type network struct {
	guard   time.Duration // the margin for jitter
	latency time.Duration // from sending to the answer, typically
	least   time.Duration // from sending to the answer, at least
	spread  time.Duration // how far the answers' times differ, typically: the network's part of it is unknown
	doubts  int           // how often the guard has proved too small
}

// learn takes one round trip into account.
func (n *network) learn(trip time.Duration) {
	if n.latency == 0 {
		n.latency, n.least = trip, trip
	} else {
		n.latency += (trip - n.latency) / latencyWeight
		n.least = min(n.least, trip)
		n.spread += ((trip - n.latency).Abs() - n.spread) / spreadWeight
	}
	n.guard = min(max(n.least/guardPart, guardMin), guardMax) << n.doubts
}

// generous is the share of a window that may be given away for certainty: a thousandth is less than anybody notices, and in a minute it is
// more than most networks are uneven. Where a window is declared and nobody tells how it stands, it is a hundredth: the calls that open it come over new
// connections, those that fill the next one do not, and arrive sooner.
const (
	generous = 1000
	cautious = 100
)

// over is the guard for a limit that is counted over a window, of which a share may be given away. Where the window is long, as much as the answers differ
// costs next to nothing, even if it is the server that makes them differ.
func (n *network) over(window time.Duration, share time.Duration) time.Duration {
	return max(n.guard, min(2*n.spread, window/share))
}

// mostDoubts bounds how often the guard is doubled: eight times 50 ms is more than any usable network needs.
const mostDoubts = 3

// doubt doubles the guard after a refusal that nothing else explains.
func (n *network) doubt() {
	if n.doubts < mostDoubts {
		n.doubts++
		n.guard *= 2
	}
}
