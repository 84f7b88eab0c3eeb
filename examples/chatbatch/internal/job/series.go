package job

import "time"

const (
	// firstStep is the length of a point at the beginning; it doubles whenever maxPoints are full.
	firstStep = 250 * time.Millisecond
	// maxPoints bounds the memory of a job of any length, and is what a chart can show.
	maxPoints = 240
)

// Point is what happened within one step of time.
type Point struct {
	Start, Length         time.Duration // Start counts from the beginning of the job
	Sent, Refused, Faults int
	Limit                 float64 // requests a second that may be sent, the last that was known; 0 = unknown

	Waited, Held, BackedOff time.Duration // of the calls that ended in this step
}

// Series is a job over time, in a bounded number of points.
type Series struct {
	began time.Time
	step  time.Duration
	all   []Point
}

func newSeries(began time.Time) *Series { return &Series{began: began, step: firstStep} }

// at is the point of a moment.
func (s *Series) at(now time.Time) *Point {
	for now.Sub(s.began) >= s.step*maxPoints {
		s.halve()
	}
	i := int(max(0, now.Sub(s.began)) / s.step)
	for len(s.all) <= i {
		s.all = append(s.all, Point{Start: time.Duration(len(s.all)) * s.step, Length: s.step, Limit: s.lastLimit()})
	}
	return &s.all[i]
}

func (s *Series) lastLimit() float64 {
	if len(s.all) == 0 {
		return 0
	}
	return s.all[len(s.all)-1].Limit
}

// halve joins neighbours, which doubles the step.
func (s *Series) halve() {
	s.step *= 2
	half := s.all[:0]
	for i := 0; i < len(s.all); i += 2 {
		p := s.all[i]
		if i+1 < len(s.all) {
			p = p.Join(s.all[i+1])
		}
		p.Length = s.step // also of the last, which may have had no neighbour
		half = append(half, p)
	}
	s.all = half
}

// Join is p and the point that follows it as one.
func (p Point) Join(q Point) Point {
	p.Length += q.Length
	p.Sent += q.Sent
	p.Refused += q.Refused
	p.Faults += q.Faults
	p.Limit = q.Limit
	p.Waited += q.Waited
	p.Held += q.Held
	p.BackedOff += q.BackedOff
	return p
}

func (s *Series) points() []Point { return append([]Point(nil), s.all...) }
