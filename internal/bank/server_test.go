package bank

import (
	"math"
	"time"
)

// server is what the clients call. It is strict: it counts a call where it arrives, and says as little as it is told to.
type server interface {
	// admit is whether a call that arrives now is let in, and otherwise when it would be.
	admit(now time.Duration) (ok bool, free time.Duration)
	// leave is told when a call that was let in is done.
	leave()
}

type stateless struct{}

func (stateless) leave() {}

// fixedServer counts in windows by the clock, or in windows that open with their first call.
type fixedServer struct {
	stateless
	limit   int
	span    time.Duration
	phase   time.Duration
	onFirst bool
	opened  time.Duration
	used    int
	begun   bool
}

func (f *fixedServer) admit(now time.Duration) (bool, time.Duration) {
	opening := (now-f.phase)/f.span*f.span + f.phase
	if f.onFirst {
		opening = f.opened
		if !f.begun || now >= f.opened+f.span {
			opening = now
		}
	}
	if !f.begun || opening != f.opened {
		f.begun, f.opened, f.used = true, opening, 0
	}
	if f.used >= f.limit {
		return false, f.opened + f.span
	}
	f.used++
	return true, 0
}

// logServer counts the calls of the last span; a harsh one counts those it turned away too.
type logServer struct {
	stateless
	limit int
	span  time.Duration
	harsh bool
	log   []time.Duration
}

func (l *logServer) admit(now time.Duration) (bool, time.Duration) {
	for len(l.log) > 0 && l.log[0] <= now-l.span {
		l.log = l.log[1:]
	}
	ok := len(l.log) < l.limit
	if ok || l.harsh {
		l.log = append(l.log, now)
	}
	if ok {
		return true, 0
	}
	return false, l.log[len(l.log)-l.limit] + l.span
}

// bucketServer refills at a rate up to a burst.
type bucketServer struct {
	stateless
	rate, burst float64
	tokens      float64
	at          time.Duration
	begun       bool
}

func (b *bucketServer) admit(now time.Duration) (bool, time.Duration) {
	if !b.begun {
		b.begun, b.tokens, b.at = true, b.burst, now
	}
	b.tokens = min(b.burst, b.tokens+b.rate*(now-b.at).Seconds())
	b.at = now
	if b.tokens >= 1-1e-9 {
		b.tokens--
		return true, 0
	}
	return false, now + time.Duration((1-b.tokens)/b.rate*1e9) + 1
}

// slotServer works on so many calls at once.
type slotServer struct{ slots, busy int }

func (s *slotServer) admit(now time.Duration) (bool, time.Duration) {
	if s.busy >= s.slots {
		return false, now + meanService
	}
	s.busy++
	return true, 0
}

func (s *slotServer) leave() { s.busy-- }

// openServer lets everything in.
type openServer struct{ stateless }

func (openServer) admit(time.Duration) (bool, time.Duration) { return true, 0 }

// downServer turns everything away from time to time: an outage, or a storm.
type downServer struct {
	server
	from, until time.Duration
	turned      int // calls that came meanwhile
}

func (d *downServer) admit(now time.Duration) (bool, time.Duration) {
	if now >= d.from && now < d.until {
		d.turned++
		return false, d.until
	}
	return d.server.admit(now)
}

// changingServer is one server before a moment, and another after.
type changingServer struct {
	before, after server
	when          time.Duration
}

func (c *changingServer) admit(now time.Duration) (bool, time.Duration) {
	if now < c.when {
		return c.before.admit(now)
	}
	return c.after.admit(now)
}

func (c *changingServer) leave() {}

// banServer shuts out who hammers: more than tolerated refusals within ten seconds, each of a call that came a second or more after the
// one before, so that the sender could have known.
type banServer struct {
	server
	tolerated int
	refusals  []time.Duration
	banned    time.Duration
	bans      int
}

const (
	banWatch = 10 * time.Second
	banFor   = 10 * time.Minute
)

func (b *banServer) admit(now time.Duration) (bool, time.Duration) {
	if now < b.banned {
		return false, b.banned
	}
	ok, free := b.server.admit(now)
	if ok {
		return ok, free
	}
	for len(b.refusals) > 0 && b.refusals[0] <= now-banWatch {
		b.refusals = b.refusals[1:]
	}
	if n := len(b.refusals); n == 0 || now > b.refusals[n-1]+time.Second {
		b.refusals = append(b.refusals, now)
	}
	if len(b.refusals) > b.tolerated {
		b.bans++
		b.banned = now + banFor
	}
	return false, free
}

// ceilSeconds is a Retry-After in whole seconds, rounded up.
func ceilSeconds(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(d.Seconds())) * time.Second
}
