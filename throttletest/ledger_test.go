package throttletest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestStatsTellClientsApart(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(3, time.Minute)))
	for _, who := range []string{"a", "a", "b", "b"} {
		p.at(0, request("{}", ClientHeader, who))
	}
	s := p.u.Stats()
	assert.Equal(t, Count{4, 3, 1}, s.Count)
	assert.Equal(t, map[string]Count{"a": {2, 2, 0}, "b": {2, 1, 1}}, s.Clients)
	assert.InDelta(t, 0.9, s.Jain(), 1e-9, "9 / (2 * 5)")
	assert.InDelta(t, 1000.0/3, s.RefusedPer1000(), 1e-9)
	assert.Equal(t, map[Reason]int{Admitted: 3, OverLimit: 1}, s.ByReason)
}

func TestMeasuresAtTheirEnds(t *testing.T) {
	assert.Equal(t, 1.0, Stats{}.Jain())
	assert.Zero(t, Stats{}.RefusedPer1000())
	assert.True(t, math.IsInf(Stats{Count: Count{Refused: 1}}.RefusedPer1000(), 1))
	all := Stats{Clients: map[string]Count{"a": {Admitted: 5}, "b": {}, "c": {}, "d": {}}}
	assert.Equal(t, 0.25, all.Jain())
}

func TestJainLiesBetweenOneOfAllAndAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Stats{Clients: map[string]Count{}}
		shares := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 20).Draw(t, "shares")
		for i, n := range shares {
			s.Clients[fmt.Sprint(i)] = Count{Admitted: n}
		}
		if j := s.Jain(); j < 1/float64(len(shares))-1e-9 || j > 1+1e-9 {
			t.Fatalf("%v for %v", j, shares)
		}
		for who, c := range s.Clients { // what counts is the shares, not the amounts
			c.Admitted *= 7
			s.Clients[who] = c
		}
		before := Stats{Clients: map[string]Count{}}
		for i, n := range shares {
			before.Clients[fmt.Sprint(i)] = Count{Admitted: n}
		}
		if math.Abs(s.Jain()-before.Jain()) > 1e-9 {
			t.Fatalf("%v and seven times as much differ", shares)
		}
	})
}

func TestWindowsHoldWhatWasAdmittedInThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := time.Duration(rapid.IntRange(1, 5000).Draw(t, "window")) * time.Millisecond
		phase := time.Duration(rapid.IntRange(-9000, 9000).Draw(t, "phase")) * time.Millisecond
		var log []Arrival
		now := dawn
		for range rapid.IntRange(1, 50).Draw(t, "arrivals") {
			now = now.Add(pauses.Draw(t, "pause"))
			log = append(log, Arrival{At: now, Reason: Reason(rapid.IntRange(0, 1).Draw(t, "refused"))})
		}
		counts := PerWindow(log, window, phase)
		first := index(log[0].At, window, phase)
		for i, got := range counts {
			want := 0
			for _, a := range log {
				if a.Reason == Admitted && index(a.At, window, phase) == first+int64(i) {
					want++
				}
			}
			if got != want {
				t.Fatalf("window %d of %d holds %d, not %d", i, len(counts), want, got)
			}
		}
		if last := index(now, window, phase); last != first+int64(len(counts))-1 {
			t.Fatalf("%d windows from %d to %d", len(counts), first, last)
		}
	})
}

func TestStatsAreACopy(t *testing.T) {
	p := newPlay(t)
	p.at(0, request("{}", ClientHeader, "a"))
	s := p.u.Stats()
	p.at(0, request("{}", ClientHeader, "a"))
	assert.Equal(t, 1, s.Clients["a"].Arrivals)
	assert.Equal(t, 1, s.ByStatus[200])
}

func TestAdmittedPerWindow(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(2, 10*time.Second).WithPhase(5*time.Second)))
	p.reasons(1, 6, 6, 6, 14, 27)
	arrivals := p.u.Arrivals()
	assert.Equal(t, []int{1, 2, 0, 1}, PerWindow(arrivals, 10*time.Second, 5*time.Second))
	assert.Nil(t, PerWindow(nil, time.Second, 0))
	assert.Nil(t, PerWindow(arrivals, 0, 0))
}

func TestDoubledIdsAreCounted(t *testing.T) {
	p := newPlay(t, WithLimits(FixedWindow(4, time.Minute)))
	for _, id := range []string{"x", "y", "x", "x", "y"} { // the last is refused, and so not doubled
		p.at(0, request("{}", IDHeader, id))
	}
	p.at(0, request("{}"))
	assert.Equal(t, 2, p.u.Stats().Doubled)
}

func TestArrivalsHoldWhatCame(t *testing.T) {
	p := newPlay(t)
	p.at(time.Second, request(`{"max_tokens":2}`, "Idempotency-Key", "k", ClientHeader, "c"))
	a := p.u.Arrivals()[0]
	assert.Equal(t, dawn.Add(time.Second), a.At)
	assert.Equal(t, "k", a.ID)
	assert.Equal(t, "c", a.Client)
	assert.Equal(t, "/v1/chat/completions", a.Path)
	assert.Equal(t, int64(16), a.Size)
	assert.Equal(t, sha256.Sum256([]byte(`{"max_tokens":2}`)), a.Sum)
	assert.Equal(t, 2.0, a.Cost["tokens"])
}

func TestTheLogEndsAndTheCountsGoOn(t *testing.T) {
	p := newPlay(t, WithLog(2))
	p.reasons(0, 1, 2)
	assert.Len(t, p.u.Arrivals(), 2)
	s := p.u.Stats()
	assert.Equal(t, 3, s.Arrivals)
	assert.Equal(t, dawn, s.First)
	assert.Equal(t, dawn.Add(2*time.Second), s.Last)
}

func TestThePeakOfOpenCalls(t *testing.T) {
	u := NewUpstream()
	var inside []verdict
	for n := range 3 {
		k, _ := u.open(request("{}"))
		inside = append(inside, u.brain.arrive(dawn, n, k, nil))
	}
	u.brain.leave(&inside[0], dawn.Add(time.Second))
	u.brain.leave(&inside[1], dawn.Add(time.Second))
	u.brain.leave(&inside[1], dawn.Add(time.Hour)) // too late: it has gone
	k, _ := u.open(request("{}"))
	u.brain.arrive(dawn.Add(time.Second), 4, k, nil)
	s := u.brain.stats(dawn.Add(time.Second))
	assert.Equal(t, 2, s.Open)
	assert.Equal(t, 3, s.PeakOpen)
}
