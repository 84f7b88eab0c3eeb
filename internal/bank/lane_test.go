package bank

import (
	"slices"
	"time"
)

// client is a process: workers that draw calls from a heap of work, and a lane that asks the Bank when they may leave. It is a stand-in
// for the real lane: refused calls go first, a canary goes alone, a Retry-After is obeyed in full.
type client struct {
	w     *world
	srv   server
	hints bool // the server sends Retry-After
	bank  *Bank

	work     int     // calls nobody has begun
	fresh    []*call // begun and waiting for the first time
	again    []*call // turned away and waiting
	inFlight int

	gate  gate
	hold  time.Duration // Retry-After
	began time.Duration // when the hold began: calls sent before neither start nor lengthen one
	timer int           // generation of the one timer

	leastRTT, latency time.Duration
	lost              int
	refusals, sends   int
	doneAt            []time.Duration
	refusedAt         []time.Duration
	waits             []time.Duration
	every             int
	trace             func(format string, args ...any)
}

type gate uint8

const (
	gateOpen   gate = iota
	gateDue         // the next call goes alone
	gateFlying      // it does
)

type call struct {
	attempts int
	since    time.Duration // when it began to wait
}

// maxAttempts is how often a call may be turned away before it is given up.
const maxAttempts = 10

// birth is the wall clock at the start of the simulation: an exact minute, hour and day.
func (c *client) time(d time.Duration) time.Time { return time.Unix(1_700_006_400, 0).Add(d) }

func (c *client) start(work, workers int) {
	c.work = work
	for range workers {
		c.draw()
	}
	c.pump()
}

// draw lets a free worker begin its next call.
func (c *client) draw() {
	if c.work == 0 {
		return
	}
	c.work--
	c.fresh = append(c.fresh, &call{since: c.w.now})
}

func (c *client) network() Network {
	return Network{Guard: min(max(c.leastRTT/3, 2*time.Millisecond), 50*time.Millisecond), Latency: c.latency}
}

// pump sends whatever may leave, and sets the timer for the rest.
func (c *client) pump() {
	for len(c.again)+len(c.fresh) > 0 && c.gate != gateFlying {
		at, lone := c.bank.At(c.time(c.w.now), c.inFlight, c.network())
		if c.trace != nil && c.bank.leak != nil {
			c.bank.leak.dump = c.w.now > c.w.start+600*time.Second
		}
		wait := max(at.Sub(c.time(0)), c.hold) - c.w.now
		if c.trace != nil && wait > 30*time.Second && len(c.again)+len(c.fresh) > 0 {
			c.trace("%8.3f waits %v in flight %d trial %+v width %.1f due %v %s", c.w.now.Seconds(), wait, c.inFlight, c.bank.trial, c.bank.ramp.width, c.bank.due()-c.bank.clock.read(c.time(c.w.now)), c.bank.describe())
		}
		if wait > 0 {
			c.wake(wait)
			return
		}
		if lone {
			c.gate = gateDue
		}
		c.send()
	}
}

func (c *client) wake(wait time.Duration) {
	c.timer++
	mine := c.timer
	if wait < 48*time.Hour {
		c.w.after(wait, func() {
			if mine == c.timer {
				c.pump()
			}
		})
	}
}

func (c *client) next() (k *call) {
	if len(c.again) > 0 {
		k, c.again = c.again[0], c.again[1:]
		return k
	}
	k, c.fresh = c.fresh[0], c.fresh[1:]
	return k
}

func (c *client) send() {
	k := c.next()
	k.attempts++
	canary := c.gate == gateDue
	if canary {
		c.gate = gateFlying
	}
	sent := c.w.now
	id := c.bank.Sent(c.time(sent))
	c.inFlight++
	c.sends++
	answer := func(do func()) {
		c.w.after(c.w.way(), func() {
			c.inFlight--
			if canary {
				c.gate = gateOpen
			}
			rtt := c.w.now - sent
			if c.leastRTT == 0 || rtt < c.leastRTT {
				c.leastRTT = rtt
			}
			do()
			c.pump()
		})
	}
	c.w.after(c.w.way(), func() {
		ok, free := c.srv.admit(c.w.now)
		if !ok {
			wait := ceilSeconds(free - c.w.now)
			answer(func() { c.refused(k, id, sent, wait) })
			return
		}
		c.w.after(c.w.service(), func() {
			c.srv.leave()
			answer(func() { c.admitted(k, id, sent) })
		})
	})
}

func (c *client) admitted(k *call, id uint64, sent time.Duration) {
	if c.latency == 0 {
		c.latency = c.w.now - sent
	}
	c.latency += (c.w.now - sent - c.latency) / 8
	c.doneAt = append(c.doneAt, c.w.now)
	c.waits = append(c.waits, sent-k.since)
	was := c.bank.obeyed
	kind := c.bank.tape.sends[c.bank.tape.index(id)].cross
	c.bank.Admitted(id, c.time(c.w.now), c.network())
	if c.trace != nil && kind == ask {
		c.trace("%8.3f ask admitted %s", c.w.now.Seconds(), c.bank.describe())
	}
	if c.trace != nil && (was != c.bank.obeyed || len(c.doneAt)%c.every == 0) {
		c.trace("%8.3f %d done %s", c.w.now.Seconds(), len(c.doneAt), c.bank.describe())
	}
	c.draw()
}

func (c *client) refused(k *call, id uint64, sent time.Duration, wait time.Duration) {
	c.refusals++
	c.refusedAt = append(c.refusedAt, c.w.now)
	kind := c.bank.tape.sends[c.bank.tape.index(id)].cross
	c.bank.Refused(id, c.time(c.w.now), wait, c.hints, c.network())
	if c.trace != nil {
		c.trace("%8.3f refused (sent %.3f, attempt %d, %v, x%d) %s", c.w.now.Seconds(), sent.Seconds(), k.attempts, wait, kind, c.bank.describe())
	}
	if c.hints && sent >= c.began {
		c.hold = max(c.hold, c.w.now+wait)
		c.began = c.w.now
		c.gate = gateDue
	}
	if k.attempts == maxAttempts {
		c.lost++
		c.draw()
		return
	}
	c.again = append(c.again, k)
}

// jain is Jain's index of fairness: 1 when all are equal, 1/n when one has everything.
func jain(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(x)) * squares)
}

func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(d))
	return s[int(q*float64(len(s)-1))]
}
