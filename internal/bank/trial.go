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

// trial is a law's crossing of its own boundary: the first call to leave after the law made calls wait.
type trial struct {
	boundary bool    // the next call is the first one across
	lone     bool    // it goes alone
	flying   bool    // it has left and was not answered
	alone    bool    // and it left alone
	since    instant // when the law began to make calls wait
	moment   instant // when the law said that it could leave
	asks     bool    // it left before that, to see whether the law is right
	prompt   bool    // it left then, not when something else let it
	id       uint64
}

// wait takes note that the law makes calls wait.
func (t *trial) wait(now, until instant) {
	if !t.boundary {
		t.boundary, t.since = true, now
	}
	t.moment, t.asks = until, false
}

func (t *trial) sent(id uint64, now instant) {
	if t.boundary || t.lone {
		*t = trial{flying: true, alone: t.lone, id: id, asks: t.asks && now < t.moment, prompt: t.moment == never || now-t.moment < prompt}
	}
}

// prompt is how soon after the moment that a law named a call must leave to prove it.
const prompt = time.Second

// answered says whether the call was the one across.
func (t *trial) answered(id uint64) bool {
	if !t.flying || t.id != id {
		return false
	}
	t.flying, t.alone = false, false
	return true
}

// lost puts the trial back to where it was before the call left.
func (t *trial) lost(id uint64) {
	if t.answered(id) {
		t.boundary = true
	}
}

// underWay is whether everybody waits for the canary.
func (t *trial) underWay() bool { return t.flying && t.alone }
