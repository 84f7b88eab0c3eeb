package mirror

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// The moment is the one at which the level, growing up to its top, times the time since our last draw comes to the area.
func TestRampReachesTheArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ramp{
			top:   rapid.Float64Range(1, 1000).Draw(t, "top"),
			slope: rapid.Float64Range(0.01, 100).Draw(t, "slope"),
			idle:  rapid.Float64Range(0, 100).Draw(t, "idle"),
		}
		r.spare = rapid.Float64Range(-100, r.top).Draw(t, "spare")
		area := rapid.Float64Range(0.1, 1000).Draw(t, "area")
		x := r.reaches(area)
		level := min(r.spare+r.slope*x, r.top)
		got := (r.idle + x) * level
		if x < 0 || got < area*(1-1e-6)-1e-6 {
			t.Fatalf("at %v the area is only %v of %v", x, got, area)
		}
		if x > 1e-9 && got > area*(1+1e-6)+1e-6 {
			t.Fatalf("%v is too late: %v of %v", x, got, area)
		}
	})
}

func TestRampOfACallThatTakesAll(t *testing.T) {
	assert.Equal(t, 2.0, ramp{spare: -4, top: 0, slope: 2}.reaches(10))
}

// Two units fewer than ought to be there: somebody else draws. They count as present for a minute of answers.
func TestOthersShowInWhatIsMissing(t *testing.T) {
	k, now := known(t, 100, time.Hour)
	assert.False(t, k.m.others.present(now))
	k.call(now, 87, time.Hour)
	seen := now + 100*ms
	assert.True(t, k.m.others.present(seen))
	assert.True(t, k.m.others.present(seen+10*time.Minute), "while nothing is heard nothing has changed")
	k.call(now+2*time.Minute, 86, time.Hour)
	assert.False(t, k.m.others.present(now+3*time.Minute))
}

func TestOneUnitMissingIsNobody(t *testing.T) {
	k, now := known(t, 100, time.Hour)
	k.call(now, 88, time.Hour)
	assert.False(t, k.m.others.present(now+100*ms))
}

// A refused call was sent and not counted; what it leaves is no other's doing.
func TestOwnRefusalsAreNotOthers(t *testing.T) {
	k, now := aBucket(t)
	for range 5 {
		k.send(now)
		k.refuse(now, now+100*ms, 0, 10*s)
		now += 200 * ms
	}
	k.m.others = sharing{}
	for i := range 5 {
		k.call(now, 5+float64(i), 9*s)
		now += 200 * ms
	}
	assert.False(t, k.m.others.present(now))
}

// Eight own calls, in two seconds, while three times as many units of the window went: our part is a quarter.
func TestPartIsMeasured(t *testing.T) {
	var sh sharing
	supply, sent := 1000.0, 0.0
	for i := range 17 {
		sh.measure(moment(i)*200*ms, supply, sent, 0)
		sent++
		supply -= 3
	}
	ours, drain := sh.draws()
	assert.InDelta(t, 0.25, ours, 0.01)
	assert.InDelta(t, 15, drain, 0.5)
	for i := range 33 { // alone from now on
		sh.measure(moment(17+i)*200*ms, supply, sent, 0)
		sent++
	}
	ours, _ = sh.draws()
	assert.InDelta(t, 0.8, ours, 0.03, "half way to all, twice, from about a quarter")
}

func TestPartOfABucketsRefill(t *testing.T) {
	var sh sharing
	supply, sent := 0.0, 0.0
	for i := range 17 { // 20 a second flow in, we take 5 and the supply grows by as much
		sh.measure(moment(i)*200*ms, supply, sent, 20)
		sent++
		supply++
	}
	ours, drain := sh.draws()
	assert.InDelta(t, 0.25, ours, 0.01)
	assert.InDelta(t, 15, drain, 0.5)
}

func TestPartBeforeTheFirstMeasurement(t *testing.T) {
	var sh sharing
	ours, drain := sh.draws()
	assert.Equal(t, []float64{0.5, 0}, []float64{ours, drain})
	sh.own, sh.others, sh.taken = 4, 12, 2
	ours, drain = sh.draws()
	assert.Equal(t, []float64{0.25, 6}, []float64{ours, drain})
}

// A window that others draw on is used up just at its edge: of what is left over the time left, our part and a little more.
func TestSharedWindowIsPaced(t *testing.T) {
	k, now := known(t, 1000, time.Hour)
	k.call(now, 900, 100*s)
	assert.True(t, k.m.others.present(now+100*ms))
	sh := &k.m.others
	sh.part = 0.1
	k.call(now+s, 890, 99*s)
	pace := (0.1 + pull) * 890 / 99.1
	at, _ := k.at(now+1200*ms, 1, 8)
	assert.InDelta(t, float64(now+s)+float64(s)/pace, float64(at), float64(20*ms))
	at, _ = k.at(now+1200*ms, 2, 8)
	assert.InDelta(t, float64(now+s)+2*float64(s)/pace, float64(at), float64(40*ms), "twice as much takes twice as long")
}

// The higher the level the faster each owner of a bucket draws, and two with the same level draw alike whatever they drew before.
func TestSharedBucketIsDrawnInProportion(t *testing.T) {
	k, now := aBucket(t)
	wait := func(level, part float64) float64 {
		k.m.others = sharing{seen: now, told: now, part: part, drain: 5}
		k.m.bucket.supply, k.m.bucket.at = k.m.sends.total+level, now
		k.m.last = now
		return (k.m.inProportion(now, 1, 0, k.net) - now).Seconds()
	}
	assert.Greater(t, wait(5, 0.1), wait(10, 0.1))
	assert.Greater(t, wait(10, 0.1), wait(20, 0.1))
	ratio := wait(20, 0.1) / wait(20, 0.8)
	assert.InDelta(t, math.Cbrt(64), ratio, 1, "an eighth of the part waits four times as long, not eight times")
}
