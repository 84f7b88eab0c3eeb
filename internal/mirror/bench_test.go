package mirror

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// BenchmarkCall is what one call costs a lane: when may it leave, it leaves, its answer comes. Sixteen are in the air.
func BenchmarkCall(b *testing.B) {
	net := Network{Guard: 20 * time.Millisecond, Latency: 120 * time.Millisecond}
	m := New(epoch)
	b.ReportAllocs()
	for i := range b.N {
		sent := epoch.Add(time.Duration(i) * 7 * time.Millisecond)
		m.At(sent, 1, 1, net)
		m.Spend(sent, 1)
		if i < 16 {
			continue
		}
		answered := i - 16
		q := headers.Quota{
			Limit: headers.Some(1e9), Remaining: headers.Some(1e9 - float64(answered) - 1),
			Reset: headers.Some(time.Hour), Grain: time.Second,
		}
		m.Learn(Answer{Sent: epoch.Add(time.Duration(answered) * 7 * time.Millisecond), Received: sent, Cost: 1, Quota: q}, net)
	}
}

func BenchmarkAt(b *testing.B) {
	m, net := busyMirror()
	b.ReportAllocs()
	for range b.N {
		m.At(epoch.Add(time.Second), 1, 16, net)
	}
}

func BenchmarkSpend(b *testing.B) {
	m, _ := busyMirror()
	b.ReportAllocs()
	for i := range b.N {
		m.Spend(epoch.Add(time.Second+time.Duration(i)*time.Millisecond), 1)
	}
}

func BenchmarkLearn(b *testing.B) {
	m, net := busyMirror()
	q := headers.Quota{Limit: headers.Some(1e6), Remaining: headers.Some(1e5), Reset: headers.Some(time.Hour), Grain: time.Second}
	b.ReportAllocs()
	for i := range b.N {
		at := epoch.Add(time.Second + time.Duration(i)*time.Millisecond)
		m.Learn(Answer{Sent: at.Add(-120 * time.Millisecond), Received: at, Cost: 1, Quota: q}, net)
	}
}

// busyMirror has as many sends to remember as it can hold.
func busyMirror() (*Mirror, Network) {
	m, net := New(epoch), Network{Guard: 20 * time.Millisecond, Latency: 120 * time.Millisecond}
	for i := range 2 * marksMost {
		m.Spend(epoch.Add(time.Duration(i)*time.Millisecond), 1)
	}
	return m, net
}
