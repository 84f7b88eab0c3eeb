package bank

import (
	"slices"
	"time"
)

// client is a process: workers that draw calls from a heap of work, and a lane that asks the Bank when they may leave. It is a stand-in
// for the real lane: calls that were turned away go first, and a Retry-After is obeyed in full.
type client struct {
	w     *world
	srv   server
	hints bool // the server sends Retry-After
	bank  *Bank

	work     int     // calls that nobody has begun
	fresh    []*call // begun, and waiting for the first time
	again    []*call // turned away, and waiting
	inFlight int
	hold     time.Duration // until when the server asked to wait
	began    time.Duration // when it did: calls sent before neither start nor lengthen a hold
	timer    int           // the generation of the one timer

	leastRTT, latency time.Duration
	lost              int // calls turned away too often
	refusals          int
	doneAt, refusedAt []time.Duration
	waits             []time.Duration
}

type call struct {
	attempts int
	since    time.Duration // when it began to wait
}

// maxAttempts is how often a call may be turned away before it is given up.
const maxAttempts = 10

// date turns the time of the simulation into a date; it begins at a full hour.
func date(d time.Duration) time.Time { return time.Unix(1_700_006_400, 0).Add(d) }

func (c *client) start(work, workers int) {
	c.work = work
	for range workers {
		c.draw()
	}
	c.pump()
}

// draw lets a free worker begin its next call.
func (c *client) draw() {
	if c.work > 0 {
		c.work--
		c.fresh = append(c.fresh, &call{since: c.w.now})
	}
}

func (c *client) network() Network {
	return Network{Guard: min(max(c.leastRTT/3, 2*time.Millisecond), 50*time.Millisecond), Latency: c.latency}
}

// pump sends whatever may leave, and sets the timer for the rest.
func (c *client) pump() {
	for len(c.again)+len(c.fresh) > 0 {
		at, _ := c.bank.At(date(c.w.now), c.inFlight, c.network())
		if wait := max(at.Sub(date(0)), c.hold) - c.w.now; wait > 0 {
			c.wake(wait)
			return
		}
		c.send(c.next())
	}
}

func (c *client) wake(wait time.Duration) {
	c.timer++
	mine := c.timer
	if wait < longest {
		c.w.after(wait, func() {
			if mine == c.timer {
				c.pump()
			}
		})
	}
}

func (c *client) next() (k *call) {
	from := &c.fresh
	if len(c.again) > 0 {
		from = &c.again
	}
	k, *from = (*from)[0], (*from)[1:]
	return k
}

func (c *client) send(k *call) {
	k.attempts++
	c.inFlight++
	sent := c.w.now
	id := c.bank.Sent(date(sent))
	c.w.after(c.w.way(), func() {
		ok, free := c.srv.admit(c.w.now)
		if !ok {
			wait := free - c.w.now
			if wait >= time.Second {
				wait = ceilSeconds(wait)
			}
			c.answer(sent, func() { c.refused(k, id, sent, wait) })
			return
		}
		c.w.after(c.w.service(), func() {
			c.srv.leave()
			c.answer(sent, func() { c.admitted(k, id, sent) })
		})
	})
}

// answer brings an answer home.
func (c *client) answer(sent time.Duration, do func()) {
	c.w.after(c.w.way(), func() {
		c.inFlight--
		if rtt := c.w.now - sent; c.leastRTT == 0 || rtt < c.leastRTT {
			c.leastRTT = rtt
		}
		do()
		c.pump()
	})
}

func (c *client) admitted(k *call, id uint64, sent time.Duration) {
	took := c.w.now - sent
	if c.latency == 0 {
		c.latency = took
	}
	c.latency += (took - c.latency) / 8
	c.doneAt = append(c.doneAt, c.w.now)
	c.waits = append(c.waits, sent-k.since)
	c.bank.Admitted(id, date(c.w.now), c.network())
	c.draw()
}

func (c *client) refused(k *call, id uint64, sent, wait time.Duration) {
	c.refusals++
	c.refusedAt = append(c.refusedAt, c.w.now)
	c.bank.Refused(id, date(c.w.now), wait, c.hints, c.network())
	if c.hints && sent >= c.began {
		c.hold = max(c.hold, c.w.now+wait)
		c.began = c.w.now
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
