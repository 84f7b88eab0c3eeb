package redisbudget

import "time"

// arm sets the timer, unless it fires sooner already.
func (a *account) arm(at time.Time) {
	if a.closed || !a.alarm.IsZero() && !at.Before(a.alarm) {
		return
	}
	a.alarm = at
	d := max(0, at.Sub(a.store.now()))
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fire)
		return
	}
	a.timer.Reset(d)
}

// fire gives back what has lapsed, and lets those who wait ask again.
func (a *account) fire() {
	now := a.store.now()
	a.mu.Lock()
	a.alarm = time.Time{}
	a.lapse(now)
	if a.closed {
		a.mu.Unlock()
		return
	}
	if o := a.outage; o != nil && !o.until.IsZero() {
		a.comeBack(now, o.until.Sub(now))
	}
	if last := a.pool.last(); !last.IsZero() {
		a.arm(last.Add(returnDelay))
	}
	a.request(now)
	if a.outage.on() && a.slots > 0 && !a.busy {
		a.arm(now.Add(probeMost)) // another account probes
	}
	a.news.changed = true
	a.mu.Unlock()
	a.announce()
}
