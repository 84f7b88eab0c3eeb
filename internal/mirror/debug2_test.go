package mirror

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"
)

func TestDebug2(t *testing.T) {
	var p, fr, j, seed int
	kind := os.Getenv("KIND")
	fmt.Sscan(os.Getenv("ARGS"), &p, &fr, &j, &seed)
	s := scenario{name: kind, calls: 1 << 30, workers: 8, processes: p, service: 200 * time.Millisecond, tell: wholeSeconds(math.Ceil), jitter: exponential(time.Duration(j) * time.Millisecond), horizon: 1800 * time.Second, foreign: float64(fr)}
	s.serve = func(w *world) server {
		if kind == "fixed" {
			return &fixedWindow{limit: 1200, length: time.Minute, phase: time.Duration(w.rng.Float64() * float64(time.Minute))}
		}
		if kind == "job" {
			return newBucket(10, 60)
		}
		if kind == "big" || kind == "bigms" {
			return newBucket(20, 1200)
		}
		if kind == "full" {
			return newBucket(20, 100)
		}
		return newBucket(20, 50)
	}
	if kind == "job" {
		s.workers = 16
	}
	if kind == "bigms" {
		s.tell = millis
	}
	if kind == "full" || kind == "job" {
		s.tell = millis
		s.service = 120 * time.Millisecond
		s.jitter = uniform(time.Duration(2*j) * time.Millisecond)
	}
	s.script = func(w *world, up *upstream, ps []*process) {
		for i := range len(ps) {
			ps[i].trace = func(format string, a ...any) {
				m := ps[i].mir
				fmt.Printf("%d %9.3f %s | law %d free %.0f edge %.3f(%v) prev %.3f others %v share %.2f pace %.2f fly %.0f len %v  rate %.2f\n", i, w.now.Seconds()-m.epoch.Sub(epoch).Seconds(), fmt.Sprintf(format, a...), m.law, m.free(0), m.window.edge.least.Seconds(), m.window.edge.known, m.window.previous.Seconds(), m.others.present(w.now-m.epoch.Sub(epoch)), m.others.part, m.others.rate, m.flying(), m.length.value, m.bucket.rate)
			}
		}
	}
	f := s.play(uint64(seed), false)
	fmt.Println(f)
	for _, e := range f.each {
		fmt.Print(e.done, " ")
	}

}
