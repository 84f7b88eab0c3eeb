package bank

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// filled returns a Bank with n calls in its memory: one every step, one in refusal turned away.
func filled(n int, step time.Duration, every int) (*Bank, time.Time) {
	b := New()
	now := time.Unix(1_700_006_400, 0)
	net := Network{Guard: 8 * time.Millisecond, Latency: 150 * time.Millisecond}
	for i := range n {
		now = now.Add(step)
		b.At(now, 1, net)
		id := b.Sent(now)
		if i%every == every-1 {
			b.Refused(id, now.Add(25*time.Millisecond), 0, false, net)
		} else {
			b.Admitted(id, now.Add(25*time.Millisecond), net)
		}
	}
	return b, now
}

func BenchmarkSuccess(b *testing.B) {
	net := Network{Guard: 8 * time.Millisecond, Latency: 150 * time.Millisecond}
	for _, c := range []struct {
		name  string
		every int
	}{{"nothing refused", 1 << 30}, {"every thousandth refused", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			bank, now := filled(10_000, 50*time.Millisecond, c.every)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				now = now.Add(50 * time.Millisecond)
				bank.At(now, 1, net)
				bank.Admitted(bank.Sent(now), now.Add(25*time.Millisecond), net)
			}
		})
	}
}

func BenchmarkRefusal(b *testing.B) {
	net := Network{Guard: 8 * time.Millisecond, Latency: 150 * time.Millisecond}
	for _, c := range []struct {
		name       string
		calls, gap int
	}{{"the first", 10_000, 0}, {"one in ten", 10_000, 10}, {"one in a thousand", 10_000, 1000}, {"all", 10_000, 1}} {
		b.Run(c.name, func(b *testing.B) {
			var spent time.Duration
			n := 0
			for n < b.N {
				bank, now := filled(10_000, 50*time.Millisecond, max(c.gap*7, 1<<30))
				for range 20 {
					for k := range max(c.gap, 1) {
						now = now.Add(100 * time.Millisecond)
						bank.At(now, 1, net)
						id := bank.Sent(now)
						now = now.Add(25 * time.Millisecond)
						if k > 0 {
							bank.Admitted(id, now, net)
							continue
						}
						t := time.Now()
						bank.Refused(id, now, 0, false, net)
						now = now.Add(200 * time.Millisecond)
						bank.At(now, 1, net)
						spent += time.Since(t)
						n++
					}
					if c.gap == 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(spent.Microseconds())/float64(n), "µs/refusal")
		})
	}
}

func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for range b.N {
		runtime.GC()
		runtime.ReadMemStats(&before)
		bank, _ := filled(20_000, 50*time.Millisecond, 500)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1024, "KiB")
		runtime.KeepAlive(bank)
	}
	b.ReportMetric(float64(unsafe.Sizeof(send{})), "B/call")
}
