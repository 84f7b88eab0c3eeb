package job

import "time"

// recentSpan is what a rate is taken over: long enough to be steady, short enough to follow a change of speed.
const recentSpan = time.Minute

// window counts events of the last minute, to the second. The zero value is ready.
type window struct {
	counts [60]int
	second [60]int64 // which second each count belongs to
}

func (w *window) add(now time.Time) {
	s := now.Unix()
	i := s % 60
	if w.second[i] != s {
		w.second[i], w.counts[i] = s, 0
	}
	w.counts[i]++
}

func (w *window) count(now time.Time) (n int) {
	for i, s := range w.second {
		if now.Unix()-s < 60 {
			n += w.counts[i]
		}
	}
	return n
}
