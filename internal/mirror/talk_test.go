package mirror

import (
	"testing"
	"time"

	"github.com/seed-18ca0a92/throttle/headers"
)

// talk drives a mirror by hand: calls of one unit leave and answers come at the moments it is told, since the mirror was made.
type talk struct {
	*testing.T
	m     *Mirror
	net   Network
	limit float64
	grain time.Duration
}

const (
	ms = time.Millisecond
	s  = time.Second
)

// newTalk is with a server of the given limit that tells whole seconds, over a network of 100 ms with a guard of 20.
func newTalk(t *testing.T, limit float64) *talk {
	return &talk{T: t, m: New(epoch), net: Network{Guard: 20 * ms, Latency: 100 * ms}, limit: limit, grain: s}
}

func (k *talk) send(at time.Duration) { k.m.Spend(epoch.Add(at), 1) }

// sendMany lets n calls leave a millisecond apart.
func (k *talk) sendMany(n int, from time.Duration) {
	for i := range n {
		k.send(from + time.Duration(i)*ms)
	}
}

func (k *talk) quota(left float64, reset time.Duration) headers.Quota {
	return headers.Quota{Limit: headers.Some(k.limit), Remaining: headers.Some(left), Reset: headers.Some(reset), Grain: k.grain}
}

func (k *talk) learn(sent, received time.Duration, refused bool, q headers.Quota) {
	k.m.Learn(Answer{Sent: epoch.Add(sent), Received: epoch.Add(received), Cost: 1, Refused: refused, Quota: q}, k.net)
}

func (k *talk) answer(sent, received time.Duration, left float64, reset time.Duration) {
	k.learn(sent, received, false, k.quota(left, reset))
}

func (k *talk) refuse(sent, received time.Duration, left float64, reset time.Duration) {
	k.learn(sent, received, true, k.quota(left, reset))
}

// call sends one unit and hears its answer 100 ms later.
func (k *talk) call(at time.Duration, left float64, reset time.Duration) {
	k.send(at)
	k.answer(at, at+100*ms, left, reset)
}

// calls are n of them in a row, each with one less left; the reset comes at a fixed moment and is rounded up.
func (k *talk) calls(n int, from time.Duration, left float64, edge time.Duration) time.Duration {
	for range n {
		left--
		k.call(from, left, ceil(edge-from-50*ms))
		from += 100 * ms
	}
	return from
}

func ceil(d time.Duration) time.Duration { return (d + s - 1).Truncate(s) }

// at is when n units may leave as seen at now, with waiting units in the queue.
func (k *talk) at(now time.Duration, n, waiting float64) (time.Duration, bool) {
	k.Helper()
	at, lone, ever := k.m.At(epoch.Add(now), n, waiting, k.net)
	if !ever {
		k.Fatalf("%v units can never leave", n)
	}
	return at.Sub(epoch), lone
}
