package throttletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// hammerer is a key that is refused at every call, in the plainest words.
type hammerer struct {
	Ban
	refused []time.Time
	until   time.Time
	bans    int
}

// call says whether a call meets a ban.
func (h *hammerer) call(now time.Time) bool {
	if now.Before(h.until) {
		if h.Extends {
			h.until = now.Add(h.For)
		}
		return true
	}
	h.refused = append(h.refused, now)
	recent := 0
	for _, t := range h.refused {
		if now.Sub(t) <= h.Within {
			recent++
		}
	}
	if recent >= h.Refusals {
		h.until, h.refused = now.Add(h.For), nil
		h.bans++
	}
	return false
}

func TestBansAreThoseOfTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ban := Ban{
			Refusals: rapid.IntRange(1, 5).Draw(t, "refusals"), Extends: rapid.Bool().Draw(t, "extends"),
			Within: time.Duration(rapid.IntRange(1, 4).Draw(t, "within")) * time.Second,
			For:    time.Duration(rapid.IntRange(1, 6).Draw(t, "for")) * time.Second,
		}
		want := &hammerer{Ban: ban}
		got, now, bans := &offender{}, dawn, 0
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(pauses.Draw(t, "pause"))
			banned := got.banned(ban, now) > 0
			if !banned && got.refused(ban, now) {
				bans++
			}
			if want.call(now) != banned || want.bans != bans {
				t.Fatalf("at %v: banned %v, %d bans so far; the model has %d", now.Sub(dawn), banned, bans, want.bans)
			}
			if len(got.refusals) >= ban.Refusals {
				t.Fatalf("%d refusals are remembered, %d are enough", len(got.refusals), ban.Refusals-1)
			}
		}
	})
}

func TestWithoutABanNothingIsRemembered(t *testing.T) {
	o := &offender{}
	for range 100 {
		assert.False(t, o.refused(Ban{}, dawn))
	}
	assert.Empty(t, o.refusals)
	assert.Zero(t, o.banned(Ban{}, dawn))
}

func TestOutagesCoverTheirSpan(t *testing.T) {
	o := Outage{From: 10 * time.Second, For: 5 * time.Second, Share: 0.25}
	for since, c := range map[time.Duration]struct {
		luck float64
		left time.Duration
		yes  bool
	}{
		10*time.Second - 1: {0, 0, false},
		10 * time.Second:   {0, 5 * time.Second, true},
		12 * time.Second:   {0.249, 3 * time.Second, true},
		13 * time.Second:   {0.25, 0, false},
		15*time.Second - 1: {0, 1, true},
		15 * time.Second:   {0, 0, false},
	} {
		left, yes := o.covers(since, c.luck)
		assert.Equal(t, c.yes, yes, since)
		if yes {
			assert.Equal(t, c.left, left, since)
		}
	}
}
