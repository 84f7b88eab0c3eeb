package mirror

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestDebug(t *testing.T) {
	kind := os.Getenv("KIND")
	var w, j, seed int
	fmt.Sscan(os.Getenv("ARGS"), &w, &j, &seed)
	s := base(kind, w)
	s.jitter = exponential(time.Duration(j) * time.Millisecond)
	for _, f := range theForms {
		if f.name == os.Getenv("FORM") {
			s.tell = f.f
		}
	}
	s.script = func(w *world, up *upstream, ps []*process) {
		ps[0].trace = func(format string, a ...any) {
			m := ps[0].mir
			fmt.Printf("%9.3f %s | law %d S-A %.0f edge %.3f(%v) low %.3f prev %.3f len %v fly %.0f rate %.2f\n", w.now.Seconds()-m.epoch.Sub(epoch).Seconds(), fmt.Sprintf(format, a...), m.law, m.free(0), m.window.edge.least.Seconds(), m.window.edge.known, m.window.edge.low.Seconds(), m.window.previous.Seconds(), m.length.value, m.flying(), m.bucket.rate)
		}
	}
	f := s.run(uint64(seed))
	fmt.Println(f)
}
