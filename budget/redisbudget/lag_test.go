package redisbudget

import (
	"sync"
	"time"
)

// Lag is what the machine kept a process from: how late timers were at the worst, and how long it stood still in all.
type Lag struct{ Worst, Lost time.Duration }

const (
	lagTick = 5 * time.Millisecond
	// lagUsual is what timers are late by on any machine, and costs nothing.
	lagUsual = 20 * time.Millisecond
	// lagBearable is how late everything may be and a fleet still exceed nothing: its bucket makes up for so much, beside the lateness
	// of slots that it allows for.
	lagBearable = time.Second*fleetBurst/fleetRate - lateness
)

func (l *Lag) add(late time.Duration) {
	l.Worst = max(l.Worst, late)
	if late > lagUsual {
		l.Lost += late
	}
}

// watchLag measures the lag of this process until it is asked for it.
func watchLag() (stop func() Lag) {
	var lag Lag
	var watch sync.WaitGroup
	end := make(chan struct{})
	watch.Go(func() {
		for {
			before := time.Now()
			select {
			case <-end:
				return
			case <-time.After(lagTick):
				lag.add(time.Since(before) - lagTick)
			}
		}
	})
	return func() Lag {
		close(end)
		watch.Wait()
		return lag
	}
}
