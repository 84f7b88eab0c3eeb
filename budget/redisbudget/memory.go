package redisbudget

import (
	"math"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// memory is what is believed to be spent in the current window of each budget, should Redis have lost it: what was seen last, and since
// then what this process spent, as often as there are processes.
func (a *account) memory(now time.Time) []float64 {
	all := make([]float64, len(a.policies))
	for i, p := range a.policies {
		all[i] = a.absence.spent[i] * a.store.least(a.view.live)
		if a.view.epoch != "" && windowOf(p, a.view.clock).Equal(windowOf(p, a.view.server(now))) {
			all[i] += a.view.seen[i].used
		}
		all[i] = math.Max(0, all[i])
	}
	return all
}

// trail is memory for a log: how long ago what was spent, or will be. What others spent since it was seen they tell when they come. Nobody knows
// without having seen it.
func (a *account) trail(now time.Time) (all []string) {
	for i, p := range a.policies {
		text := "-"
		if p.Algorithm == budget.SlidingLog && a.view.epoch != "" {
			text = ""
			for _, s := range a.view.seen[i].spent {
				text += pair(now.Sub(a.view.at)+s.age, s.n)
			}
			text += a.absence.text(i, now)
		}
		all = append(all, text)
	}
	return all
}

// own is what this process spent while it was away, likewise.
func (a *account) own(now time.Time) (all []string) {
	for i := range a.policies {
		all = append(all, a.absence.text(i, now))
	}
	return all
}

// text is a trail as the script reads it.
func (a *absence) text(i int, now time.Time) (text string) {
	for _, s := range a.trail[i] {
		text += pair(now.Sub(s.at), s.n)
	}
	return text
}

func pair(age time.Duration, n float64) string { return micros(age) + " " + amount(n) + " " }

// windowOf is when the window of the clock began that t lies in.
func windowOf(p budget.Policy, t time.Time) time.Time {
	anchor := p.Anchor
	if anchor.IsZero() {
		anchor = time.Unix(0, 0)
	}
	phase := anchor.Sub(anchor.Truncate(p.Window))
	return t.Add(-phase).Truncate(p.Window).Add(phase)
}
