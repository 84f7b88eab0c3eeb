package mirror

import (
	"math"
	"time"
)

// A server counts calls and refuses strictly. Calls arrive in order of time.
type server interface {
	// ask decides on a call of n units that arrives at t.
	ask(t time.Duration, n float64) verdict
	// change sets another limit from t on.
	change(t time.Duration, limit float64)
}

// A verdict is what the server did with a call, and the exact truth about its limit afterwards.
type verdict struct {
	ok          bool
	limit, left float64
	reset       time.Duration // from now; what it is the moment of differs between servers
	again       time.Duration // from now until a refused call would have been admitted, if nobody else calls
}

// fixedWindow counts in windows aligned to phase, or opened by the first call when byFirst.
type fixedWindow struct {
	limit   float64
	length  time.Duration
	phase   time.Duration // a window ends at phase, phase+length, ...
	byFirst bool

	end  time.Duration
	used float64
}

func (s *fixedWindow) ask(t time.Duration, n float64) verdict {
	s.roll(t)
	ok := s.used+n <= s.limit
	if ok {
		s.used += n
	}
	return verdict{ok, s.limit, max(0, s.limit-s.used), s.end - t, s.end - t}
}

func (s *fixedWindow) roll(t time.Duration) {
	if t < s.end {
		return
	}
	s.used = 0
	s.end = t + s.length
	if !s.byFirst {
		past := (t - s.phase) % s.length
		s.end = t - past + s.length
		if past < 0 {
			s.end = t - past
		}
	}
}

func (s *fixedWindow) change(_ time.Duration, limit float64) { s.limit = limit }

// logServer remembers every admitted call for one length. Its reset is when the oldest one expires.
type logServer struct {
	limit  float64
	length time.Duration
	toFull bool // its reset is when the newest call expires

	log  []stamp
	used float64
}

type stamp struct {
	at time.Duration
	n  float64
}

func (s *logServer) ask(t time.Duration, n float64) verdict {
	for len(s.log) > 0 && s.log[0].at+s.length <= t {
		s.used -= s.log[0].n
		s.log = s.log[1:]
	}
	ok := s.used+n <= s.limit
	if ok {
		s.used += n
		s.log = append(s.log, stamp{t, n})
	}
	reset := time.Duration(0)
	if len(s.log) > 0 {
		reset = s.log[0].at + s.length - t
	}
	again := reset
	if s.toFull && len(s.log) > 0 {
		reset = s.log[len(s.log)-1].at + s.length - t
	}
	return verdict{ok, s.limit, max(0, s.limit-s.used), reset, again}
}

func (s *logServer) change(_ time.Duration, limit float64) { s.limit = limit }

// slidingCounter weighs the previous window's count by how much of it still overlaps.
type slidingCounter struct {
	limit         float64
	length, phase time.Duration

	end       time.Duration
	prev, cur float64
}

func (s *slidingCounter) ask(t time.Duration, n float64) verdict {
	for t >= s.end {
		if s.end == 0 {
			s.end = s.phase - s.length
		}
		s.prev, s.cur = s.cur, 0
		s.end += s.length
	}
	weight := float64(s.end-t) / float64(s.length)
	ok := s.prev*weight+s.cur+n <= s.limit
	if ok {
		s.cur += n
	}
	left := s.limit - s.prev*weight - s.cur
	again := s.end - t
	if s.prev > 0 && !ok {
		again = min(again, time.Duration((n-left)/s.prev*float64(s.length))+1)
	}
	return verdict{ok, s.limit, math.Floor(max(0, left)), s.end - t, again}
}

func (s *slidingCounter) change(_ time.Duration, limit float64) { s.limit = limit }

// tokenBucket refills at rate up to burst. Its reset is when it is full, or when one more token is there if toNext.
type tokenBucket struct {
	rate, burst float64
	toNext      bool

	level float64
	seen  time.Duration
}

func newBucket(rate, burst float64) *tokenBucket {
	return &tokenBucket{rate: rate, burst: burst, level: burst}
}

func (s *tokenBucket) ask(t time.Duration, n float64) verdict {
	s.refill(t)
	ok := s.level >= n-1e-9
	if ok {
		s.level -= n
	}
	missing := s.burst - s.level
	if s.toNext {
		missing = math.Ceil(s.level+1e-9) - s.level
	}
	return verdict{ok, s.burst, math.Floor(s.level + 1e-9), seconds(missing / s.rate), seconds(max(0, n-s.level)/s.rate) + 1}
}

func (s *tokenBucket) refill(t time.Duration) {
	s.level = min(s.burst, s.level+s.rate*(t-s.seen).Seconds())
	s.seen = t
}

// change keeps how long a full bucket lasts: the rate moves with the burst.
func (s *tokenBucket) change(t time.Duration, limit float64) {
	s.refill(t)
	s.rate *= limit / s.burst
	s.burst = limit
	s.level = min(s.level, limit)
}
