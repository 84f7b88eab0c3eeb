package bank

import (
	"math"
	"time"
)

// ramp is the slow start of the calls in flight: half a call more for every call let in, as there is nothing to go by yet.
type ramp struct{ width float64 }

// rampStep grows the calls in flight by half in every round trip. With a whole one a server that can take little is overrun further.
const rampStep = 0.5

func (r *ramp) grow()    { r.width += rampStep }
func (r *ramp) restart() { r.width = 1 }
func (r *ramp) lift()    { r.width = math.Inf(1) }

// longCall is the age from which a call is no longer waited for in the slow start: it works, and may do so for minutes.
const longCall = 2 * time.Second

// age lets the calls grow the ramp that were under way for so long.
func (b *Bank) age(now instant) {
	t := &b.tape
	for ; t.aged < len(t.sends) && (t.sends[t.aged].outcome != pending || t.sends[t.aged].at <= now-longCall); t.aged++ {
		if t.sends[t.aged].outcome == pending {
			t.slow++
			b.ramp.grow()
		}
	}
}

// nextLong is when a call will have been under way for so long.
func (b *Bank) nextLong() instant {
	if t := &b.tape; t.aged < len(t.sends) {
		return t.sends[t.aged].at + longCall
	}
	return never
}

// crossing is what a call that leaves has to do with the boundary of the law in force.
type crossing uint8

const (
	within crossing = iota // no law had made it wait
	prompt                 // it left when the law said that it could
	late                   // it left some time after that, when something else let it: that proves nothing
	ask                    // it left before that, to see whether the law is right
)

// promptness is how soon after the moment that a law named a call must leave to prove it.
const promptness = time.Second

// trial is a law's crossing of its own boundary: the first call to leave after the law made calls wait, alone if the law is not proved.
type trial struct {
	boundary bool    // the next call is the first one across
	since    instant // when the law began to make calls wait
	moment   instant // when the law says that it can leave
	asks     bool    // it leaves before that
	lone     bool    // it goes alone
	flying   bool    // one that goes alone has left and was not answered
	id       uint64  // which
	left     instant // and when
}

// wait takes note that the law makes calls wait.
func (t *trial) wait(now, until instant) {
	if !t.boundary || t.since == 0 {
		t.boundary, t.since = true, now
	}
	t.moment, t.asks = until, false
}

// sent begins the trial if the call that leaves is one.
func (t *trial) sent(id uint64, now instant) crossing {
	if !t.boundary && !t.lone {
		return within
	}
	kind := late
	switch {
	case t.asks && now < t.moment:
		kind = ask
	case t.moment == never || now < t.moment+promptness:
		kind = prompt
	}
	was := *t
	*t = trial{flying: was.flying, id: was.id, left: was.left}
	if was.lone {
		t.flying, t.id, t.left = true, id, now
	}
	return kind
}

// answered ends the flight of the canary, if the call was it.
func (t *trial) answered(id uint64) {
	if t.id == id {
		t.flying = false
	}
}
