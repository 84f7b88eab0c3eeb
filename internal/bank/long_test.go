package bank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// minuteCalls are calls that take a minute, on an even network.
var minuteCalls = Network{Guard: 8 * time.Millisecond, Latency: time.Minute}

// sendAll sends whatever may leave from a moment on for some time, and never answers; it is how much that was.
func sendAll(b *Bank, now time.Time, lasts time.Duration) (sent int) {
	for end := now.Add(lasts); ; {
		at, _ := b.At(now, sent, minuteCalls)
		if at.After(now) {
			now = at
		}
		if now.After(end) {
			return sent
		}
		b.Sent(now)
		sent++
	}
}

// A completion may take minutes. Nobody waits for its answer to learn that it was let in: a refusal would have been back.
func TestCallsThatTakeLongHoldUpNobody(t *testing.T) {
	assert.Greater(t, sendAll(New(), date(0), 30*time.Second), 100, "at first contact")
}

// A doubt ends when a canary is presumed to have been let in, and the others follow it.
func TestAPresumedCanaryEndsADoubt(t *testing.T) {
	b, now := New(), date(0)
	const rtt = 25 * time.Millisecond
	b.Refused(b.Sent(now), now.Add(rtt), 0, false, minuteCalls)
	now = now.Add(rtt)
	b.doubt(b.clock.read(now))
	until, held := b.Hold(now)
	require.True(t, held)
	at, lone := b.At(until, 0, minuteCalls)
	require.Equal(t, until, at)
	require.True(t, lone, "one call finds out")
	b.Sent(at)
	at, _ = b.At(at, 1, minuteCalls)
	assert.Greater(t, at, until, "nobody follows it at once")
	assert.Less(t, at, until.Add(time.Second), "a refusal would have been back")
	b.At(at, 1, minuteCalls)
	assert.False(t, b.outage.doubt)
	assert.Greater(t, sendAll(b, at, 30*time.Second), 5)
}
