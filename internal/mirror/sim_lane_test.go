package mirror

import (
	"math/rand/v2"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// A process is one client: workers that call, one queue, one gate, and one mirror that says when the head may leave.
type process struct {
	w    *world
	up   *upstream
	net  network
	mir  *Mirror
	left *int // calls still to be made, of all who share the job

	queue   []*call // waiting, refused ones first
	again   []*call
	gate    bool // one call crosses alone: nothing leaves until its answer is back
	hold    time.Duration
	timer   int
	least   time.Duration // least round trip
	typical time.Duration
	think   func(*rand.Rand) time.Duration // pause of a worker between two calls

	got   fate
	trace func(format string, a ...any)
}

type call struct {
	asked, sent time.Duration
	lone        bool
	done        func()
}

// fate is what became of a process's calls.
type fate struct {
	done, refused int
	waits         []time.Duration
	last          time.Duration // when the last answer came
}

// An upstream is a server as seen through the network: how long it works on a call, and how it tells what is left.
type upstream struct {
	server
	tell    form
	service func(*rand.Rand) time.Duration
	arrived []time.Duration // of admitted calls

	patient bool // calls that come too early wait at the server instead of being refused: the bound of what any client can reach
	room    []*arrival
}

// An arrival is a call that waits at a patient server.
type arrival struct {
	p *process
	c *call
}

// admit lets in who waits, in order, and comes back when the next one fits.
func (u *upstream) admit(w *world) {
	for len(u.room) > 0 {
		v := u.ask(w.now, 1)
		if !v.ok {
			w.after(v.again, func() { u.admit(w) })
			return
		}
		u.arrived = append(u.arrived, w.now)
		a := u.room[0]
		u.room = u.room[1:]
		a.p.respond(a.c, v, headers.Quota{}, u.service(w.rng))
	}
}

func (p *process) start(workers int) {
	for range workers {
		p.work()
	}
}

func (p *process) work() {
	if *p.left <= 0 {
		return
	}
	*p.left--
	c := &call{asked: p.w.now, done: func() {
		if p.think == nil {
			p.work()
			return
		}
		p.w.after(p.think(p.w.rng), p.work)
	}}
	p.queue = append(p.queue, c)
	p.pump()
}

func (p *process) head() *[]*call {
	if len(p.again) > 0 {
		return &p.again
	}
	return &p.queue
}

// pump lets leave who may.
func (p *process) pump() {
	for !p.gate && len(p.again)+len(p.queue) > 0 {
		waiting := float64(len(p.again) + len(p.queue))
		at, lone, ever := p.ask(waiting)
		if !ever {
			panic("one unit can never leave")
		}
		when := max(p.hold, at.Sub(epoch))
		if when > p.w.now {
			p.wake(when)
			return
		}
		q := p.head()
		c := (*q)[0]
		*q = (*q)[1:]
		p.send(c, lone)
	}
}

func (p *process) ask(waiting float64) (time.Time, bool, bool) {
	if p.up.patient {
		return epoch, false, true
	}
	return p.mir.At(p.w.date(), 1, waiting, p.network())
}

func (p *process) wake(when time.Duration) {
	p.timer++
	mine := p.timer
	p.w.at(when, func() {
		if mine == p.timer {
			p.pump()
		}
	})
}

func (p *process) send(c *call, lone bool) {
	c.sent, c.lone = p.w.now, lone
	p.gate = p.gate || lone
	p.mir.Spend(p.w.date(), 1)
	p.w.after(p.net.delay(p.w.rng), func() { p.arrive(c) })
}

func (p *process) arrive(c *call) {
	if p.up.patient {
		p.up.room = append(p.up.room, &arrival{p, c})
		if len(p.up.room) == 1 {
			p.up.admit(p.w)
		}
		return
	}
	v := p.up.ask(p.w.now, 1)
	q := p.up.tell(v, p.w.now, p.w.rng)
	work := 2 * time.Millisecond
	if v.ok {
		work = p.up.service(p.w.rng)
		p.up.arrived = append(p.up.arrived, p.w.now)
	}
	p.respond(c, v, q, work)
}

func (p *process) respond(c *call, v verdict, q headers.Quota, work time.Duration) {
	p.w.after(work+p.net.delay(p.w.rng), func() { p.answer(c, v.ok, q) })
}

func (p *process) answer(c *call, ok bool, q headers.Quota) {
	p.trip(p.w.now - c.sent)
	p.mir.Learn(Answer{Sent: epoch.Add(c.sent), Received: p.w.date(), Cost: 1, Refused: !ok, Quota: q}, p.network())
	if c.lone {
		p.gate = false
	}
	if p.trace != nil {
		p.trace("answer ok=%v lone=%v sent %.3f left %v reset %v", ok, c.lone, (c.sent - p.mir.epoch.Sub(epoch)).Seconds(), q.Remaining.Value, q.Reset.Value)
	}
	if ok {
		p.got.done++
		p.got.last = p.w.now
		p.got.waits = append(p.got.waits, c.sent-c.asked)
		c.done()
	} else {
		p.got.refused++
		p.again = append(p.again, c)
		if !p.mir.Explains(p.w.date(), 1) {
			p.hold = max(p.hold, p.w.now+time.Second)
		}
	}
	p.pump()
}

func (p *process) trip(d time.Duration) {
	if p.least == 0 || d < p.least {
		p.least = d
	}
	if p.typical == 0 {
		p.typical = d
	}
	p.typical += (d - p.typical) / 8
}

// network is what a lane would tell the mirror.
func (p *process) network() Network {
	guard := min(max(p.least/3, 2*time.Millisecond), 50*time.Millisecond)
	return Network{Guard: guard, Latency: p.typical}
}
