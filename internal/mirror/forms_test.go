package mirror

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

var theForms = []struct {
	name string
	f    form
}{
	{"ceil", wholeSeconds(math.Ceil)}, {"floor", wholeSeconds(math.Floor)}, {"near", wholeSeconds(math.Round)}, {"ms", millis},
	{"epoch", wholeEpoch(-3*time.Minute-300*time.Millisecond, math.Ceil)}, {"epochfloor", wholeEpoch(4*time.Minute+700*time.Millisecond, math.Floor)},
	{"some", sometimes(wholeSeconds(math.Ceil))},
}

func TestForms(t *testing.T) {
	only := os.Getenv("ONLY")
	for _, kind := range []string{"fixed", "first", "log", "counter", "bucket"} {
		for _, fm := range theForms {
			for _, w := range []int{1, 16, 256} {
				id := fmt.Sprintf("%s/%s/%d", kind, fm.name, w)
				if only != "" && !strings.Contains(id, only) {
					continue
				}
				var sum, worst, ref, worstref float64
				wseed := 0
				const n = 10
				for seed := range uint64(n) {
					s := base(kind, w)
					s.jitter = exponential(10 * time.Millisecond)
					s.tell = fm.f
					f := s.run(seed)
					sum += f.ratio()
					worst = max(worst, f.ratio())
					ref += f.per1000()
					if f.per1000() > worstref {
						worstref, wseed = f.per1000(), int(seed)
					}
				}
				flag := ""
				if sum/n > 1.005 || ref/n > 0.2 {
					flag = "  <--"
				}
				fmt.Printf("%-8s %-10s W=%3d mean %.4f worst %.4f refused %.2f worst %.2f (seed %d)%s\n", kind, fm.name, w, sum/n, worst, ref/n, worstref, wseed, flag)
			}
		}
	}
}
