package throttletest

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
	"github.com/seed-18ca0a92/throttle/headers"
)

// announcement is what one answer says in one dialect.
type announcement struct {
	dialect headers.Dialect
	clock   time.Time // of the server, when the figures were taken
	moments bool      // the dialect tells moments of that clock
	quotas  []headers.Quota
}

// announce is what an answer at now says about the limits of a pool.
func (c *config) announce(p *pool, now time.Time, refused bool, luck float64) (out []announcement) {
	clock := now.Add(c.skew)
	for _, a := range c.announces {
		if !a.carries(refused, luck) {
			continue
		}
		one := announcement{dialect: a.Dialect, clock: clock, moments: a.tellsMoments()}
		for _, l := range p.counters {
			if !l.silent {
				one.quotas = append(one.quotas, a.quota(l, now, clock))
			}
		}
		a.tellApart(one.quotas)
		a.hideWindows(one.quotas)
		out = append(out, one)
	}
	return out
}

// tellApart gives names to limits without one in the dialect that tells limits apart by nothing else.
func (a Announce) tellApart(quotas []headers.Quota) {
	if a.Dialect != headers.RateLimitList || len(quotas) < 2 {
		return
	}
	for i := range quotas {
		if q := &quotas[i]; q.Name == "" && q.Window.Known {
			q.Name = q.Unit + "-" + q.Window.Value.String()
		} else if q.Name == "" {
			q.Name = q.Unit
		}
	}
}

// hideWindows takes away the windows that are not to be told.
func (a Announce) hideWindows(quotas []headers.Quota) {
	type name struct{ unit, name string }
	same := map[name]int{}
	for _, q := range quotas {
		same[name{q.Unit, q.Name}]++
	}
	for i := range quotas {
		q := &quotas[i]
		if a.NoWindow || !a.hasPolicies() && same[name{q.Unit, q.Name}] == 1 {
			q.Window = headers.Maybe[time.Duration]{}
		}
	}
}

// write puts the announcement into h, which has the Date of the answer already.
func (a announcement) write(h http.Header) {
	quotas := slices.Clone(a.quotas)
	if date, err := http.ParseTime(h.Get("Date")); err == nil && a.moments {
		for i, q := range quotas { // headers.Write counts moments from the Date, which is later and has no fraction
			quotas[i].Reset.Value = max(0, a.clock.Add(q.Reset.Value).Sub(date))
		}
	}
	headers.Write(h, quotas, a.dialect)
	if a.dialect == headers.Discord { // which tells the time from now as well
		a.resetAfter(h)
	}
}

// resetAfter corrects the time from now that was counted from the Date.
func (a announcement) resetAfter(h http.Header) {
	first := slices.IndexFunc(a.quotas, func(q headers.Quota) bool { return q.Unit == budget.Requests && q.Reset.Known })
	if first >= 0 {
		h.Set("X-Ratelimit-Reset-After", strconv.FormatFloat(a.quotas[first].Reset.Value.Seconds(), 'f', 3, 64))
	}
}
