package throttletest

import (
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// Arrival is one call as the server saw it. Sum is the SHA-256 of its body.
type Arrival struct {
	N        int // counted from 1
	At       time.Time
	Reason   Reason
	Status   int    // 0 if the connection was broken instead
	Client   string // by ClientHeader
	Key, ID  string // by WithKey, and by IDHeader
	Resource string // of WithResource; empty = none took it
	Path     string
	Cost     budget.Cost // charged on arrival, if admitted
	Size     int64       // of the body, in bytes
	Sum      [sha256.Size]byte
}

// Count is how many calls there were, and what became of them. Arrivals that are neither admitted nor refused were faulted.
type Count struct{ Arrivals, Admitted, Refused int }

func (c *Count) add(r Reason) {
	c.Arrivals++
	switch {
	case r == Admitted:
		c.Admitted++
	case r.refusal():
		c.Refused++
	}
}

// Stats is what an upstream has counted so far.
type Stats struct {
	Count
	ByReason map[Reason]int
	ByStatus map[int]int
	Clients  map[string]Count // by ClientHeader
	Foreign  Count
	// Spent is what the admitted calls have been charged in all, by unit: what they used, as soon as they have ended.
	Spent budget.Cost
	// Debt is the deepest that a limit was in debt, by unit: with ChargeUsed, calls may use more than was left when they were admitted.
	Debt map[string]float64
	// Bans is how many bans began; refusals during one are counted under ByReason[Banned].
	Bans int
	// Doubled is how many admissions repeated an id that had been admitted before.
	Doubled int
	// Open is how many admitted calls are inside, or how many streams flow; PeakOpen is the most there were.
	Open, PeakOpen int
	First, Last    time.Time // arrivals
}

// RefusedPer1000 is refusals per 1000 admissions, the usual measure of a client's manners; 0 if there was neither.
func (s Stats) RefusedPer1000() float64 {
	if s.Refused == 0 {
		return 0
	}
	return 1000 * float64(s.Refused) / float64(s.Admitted)
}

// Jain is the fairness between clients by what was admitted of each: 1 if all have the same, 1/n if one of n has everything
// (Jain, Chiu and Hawe 1984). It is 1 if nobody has anything.
func (s Stats) Jain() float64 {
	var sum, squares float64
	for _, c := range s.Clients {
		x := float64(c.Admitted)
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(s.Clients)) * squares)
}

// PerWindow is how many of the arrivals were admitted in each window of the clock, from that of the first arrival to that of the
// last; windows are as in FixedWindow and WithPhase. The arrivals are in order of time, as Upstream.Arrivals gives them.
func PerWindow(arrivals []Arrival, window, phase time.Duration) []int {
	if len(arrivals) == 0 || window <= 0 {
		return nil
	}
	first := windowStart(arrivals[0].At, window, phase)
	last := arrivals[len(arrivals)-1].At
	counts := make([]int, int(last.Sub(first)/window)+1)
	for _, a := range arrivals {
		if a.Reason == Admitted {
			counts[a.At.Sub(first)/window]++
		}
	}
	return counts
}

// ledger is the book of a brain.
type ledger struct {
	stats    Stats
	arrivals []Arrival
	most     int
	admitted map[string]bool
}

func newLedger(most int) ledger {
	return ledger{most: most, admitted: map[string]bool{}, stats: Stats{
		ByReason: map[Reason]int{}, ByStatus: map[int]int{}, Clients: map[string]Count{}, Spent: budget.Cost{}, Debt: map[string]float64{},
	}}
}

func (l *ledger) note(v *verdict, k *call) {
	s := &l.stats
	if s.Arrivals == 0 {
		s.First = v.at
	}
	s.Last = v.at
	s.add(v.reason)
	s.ByReason[v.reason]++
	s.ByStatus[v.status]++
	who := s.Clients[k.client]
	who.add(v.reason)
	s.Clients[k.client] = who
	if v.reason == Admitted {
		l.admit(k)
	}
	l.log(v, k)
}

func (l *ledger) admit(k *call) {
	l.spend(k.charged, 1)
	if k.id == "" {
		return
	}
	if l.admitted[k.id] {
		l.stats.Doubled++
	}
	l.admitted[k.id] = true
}

// spend books a cost, or takes it back with a sign of -1.
func (l *ledger) spend(cost budget.Cost, sign float64) {
	if _, told := cost[budget.Requests]; !told {
		l.stats.Spent[budget.Requests] += sign
	}
	for unit := range cost {
		l.stats.Spent[unit] += sign * amount(cost, unit)
	}
}

// owe notes how deep the limits of a pool are in debt.
func (l *ledger) owe(p *pool) {
	for _, c := range p.counters {
		if d, ok := c.law.(debtor); ok && d.debt() > l.stats.Debt[c.unitOf()] {
			l.stats.Debt[c.unitOf()] = d.debt()
		}
	}
}

func (l *ledger) log(v *verdict, k *call) {
	if len(l.arrivals) >= l.most {
		return
	}
	a := Arrival{
		N: v.n, At: v.at, Reason: v.reason, Status: v.status, Client: k.client, Key: k.key, ID: k.id,
		Resource: k.resourceName, Path: k.request.URL.Path, Size: k.size, Sum: k.sum,
	}
	if v.reason == Admitted {
		a.Cost = k.charged
	}
	l.arrivals = append(l.arrivals, a)
}

func (l *ledger) opened(open int) { l.stats.PeakOpen = max(l.stats.PeakOpen, open) }

// stats is a copy of what was counted until now.
func (b *brain) stats(now time.Time) Stats {
	s := b.ledger.stats
	s.ByReason, s.ByStatus, s.Clients = maps.Clone(s.ByReason), maps.Clone(s.ByStatus), maps.Clone(s.Clients)
	s.Spent, s.Debt = maps.Clone(s.Spent), maps.Clone(s.Debt)
	s.Open = int(b.meter.used(now))
	for _, p := range b.pools {
		p.advance(now)
		if f := p.foreign; f != nil {
			s.Foreign.Arrivals += f.admitted + f.refused
			s.Foreign.Admitted += f.admitted
			s.Foreign.Refused += f.refused
		}
	}
	return s
}

func (b *brain) arrivals() []Arrival { return slices.Clone(b.ledger.arrivals) }
