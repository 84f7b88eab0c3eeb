package headers

import (
	"net/http"
	"sync/atomic"
	"time"
)

// A Shape remembers which headers of a server's answers tell something. Most servers send the same ones each time, so the next answer is read by
// looking those up, in half the time of looking at every header. A success that has lost one of them, or has more or fewer headers in all, is
// read in full, and so is every answer that is no success, and one in 32 of the rest: by then at the latest a header is noticed that has taken
// the place of one without meaning. The zero value remembers nothing; safe for concurrent use.
type Shape struct {
	known atomic.Pointer[outline]
	size  atomic.Int64 // how many headers the last answer had that was read in full: only two alike in a row make a shape
}

const (
	// trusted is how many answers in a row are read by their shape: few enough that what is new is soon noticed, enough that the full look
	// costs next to nothing.
	trusted = 31
	// mostTelling is how many telling headers a shape has at most; looking up more is no faster than looking at all.
	mostTelling = 12
)

// outline is never changed but for what it is trusted.
type outline struct {
	headers int // in all
	telling []telling
	trust   atomic.Int32 // answers that may still be read by it
}

// telling is a header that tells something.
type telling struct {
	name  string
	fact  fact  // what it says of
	plain uint8 // a plain quota; notPlain for all others
}

// ParseInto is the function of that name, for the answers of one server.
func (s *Shape) ParseInto(r *Report, h http.Header, status int, now time.Time) {
	rd := reading{h: h, now: now, unit: time.Second}
	rd.report.Quotas = r.Quotas[:0]
	success := status/100 == 2
	if success && rd.recall(s.known.Load()) {
		rd.finish()
	} else {
		rd.read()
		if success {
			s.learn(&rd)
		}
	}
	*r = rd.report
}

// learn takes over the shape of an answer that was read in full, if it is like the one before.
func (s *Shape) learn(rd *reading) {
	n := int64(len(rd.h))
	if known := s.known.Load(); known.describes(rd) {
		known.trust.Store(trusted)
	} else if s.size.Swap(n) == n {
		s.known.Store(rd.outline())
	} else {
		s.known.Store(nil)
	}
}

// describes reports whether an answer that was read in full has that shape.
func (o *outline) describes(rd *reading) bool {
	if o == nil || rd.aged || rd.canonical || len(rd.h) != o.headers || rd.told != len(o.telling) {
		return false
	}
	for i := range o.telling {
		if _, ok := rd.h[o.telling[i].name]; !ok {
			return false
		}
	}
	return true
}

// recall reads an answer by a known shape, or leaves it alone and reports that it cannot.
func (rd *reading) recall(o *outline) bool {
	if o == nil || len(rd.h) != o.headers || o.trust.Add(-1) < 0 {
		return false
	}
	var told [mostTelling][]string
	for i := range o.telling {
		lines, ok := rd.h[o.telling[i].name]
		if !ok {
			return false
		}
		told[i] = lines
	}
	for i := range o.telling {
		if t := &o.telling[i]; t.plain == notPlain {
			rd.take(t.name, told[i])
		} else {
			rd.quantity(t.fact, &plainSubjects[t.plain], usable(told[i]))
		}
	}
	return true
}

// outline is that of the answer that was read; nil for one with too many headers that tell something, with odd ones, or from a cache.
func (rd *reading) outline() *outline {
	if rd.canonical || rd.aged || rd.told > mostTelling {
		return nil
	}
	s := &outline{headers: len(rd.h), telling: make([]telling, 0, rd.told)}
	s.trust.Store(trusted)
	for name := range rd.h {
		if len(name) >= 4 && knownNames.admits(name) && places[name] != slotNothing {
			f, which := common(name)
			s.telling = append(s.telling, telling{name, f, which})
		}
	}
	return s
}
