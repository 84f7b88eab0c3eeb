package headers

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// byShape is what s reads from an answer.
func byShape(s *Shape, h http.Header, status int) (r Report) {
	s.ParseInto(&r, h, status, noon)
	return r
}

// countdown is an answer with everyday headers, and with a quota that shrinks.
func countdown(left int, others ...string) http.Header {
	return header(append(others, "Server: x", "X-RateLimit-Limit: 100", "X-RateLimit-Remaining: "+strconv.Itoa(left), "X-RateLimit-Reset: 30")...)
}

func TestEveryVectorIsReadAlikeByItsShape(t *testing.T) {
	for _, v := range vectors(t) {
		var s Shape
		for range 2 * trusted {
			var got Report
			s.ParseInto(&got, v.header(), 200, v.ReceivedAt)
			want := Parse(v.header(), 200, v.ReceivedAt)
			require.Equal(t, want.RetryAfter, got.RetryAfter, v.ID)
			require.Equal(t, want.ShouldRetry, got.ShouldRetry, v.ID)
			require.Equal(t, show(want), show(got), v.ID)
		}
	}
}

// Answers with all sorts of headers in turn: as long as none changes its meaning in secret, a shape makes no difference.
func TestAShapeMakesNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Shape
		answers := [][]string{drawLines(t), drawLines(t)}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 80).Draw(t, "turns") {
			h := header(answers[i/2]...)
			for len(h) < 20+i/2 { // never as many as the other kind has
				h.Set("X-Filler-"+strconv.Itoa(len(h)), "1")
			}
			status := 200 + i%2*229
			requireSameReport(t, Parse(h, status, noon), byShape(&s, h, status))
		}
	})
}

func TestNumbersAreReadAnewEachTime(t *testing.T) {
	var s Shape
	for left := 99; left >= 0; left-- {
		require.Equal(t, Some(float64(left)), byShape(&s, countdown(left), 200).Quotas[0].Remaining)
	}
}

func TestAHeaderMoreIsNoticedAtOnce(t *testing.T) {
	var s Shape
	for range 5 {
		byShape(&s, countdown(9), 200)
	}
	require.True(t, byShape(&s, countdown(9, "Retry-After: 5"), 200).RetryAfter.Known)
}

func TestALostHeaderIsNoticedAtOnce(t *testing.T) {
	var s Shape
	for range 5 {
		byShape(&s, countdown(9), 200)
	}
	h := countdown(9, "Retry-After: 5")
	delete(h, "X-Ratelimit-Limit")
	r := byShape(&s, h, 200)
	require.True(t, r.RetryAfter.Known)
	require.False(t, r.Quotas[0].Limit.Known)
}

func TestAnAnswerThatIsNoSuccessIsReadInFull(t *testing.T) {
	var s Shape
	for range 5 {
		byShape(&s, countdown(9), 200)
	}
	h := countdown(0, "Retry-After: 5")
	delete(h, "Server") // as many as before
	require.True(t, byShape(&s, h, 429).RetryAfter.Known)
}

// The one thing that a shape may miss: a header in the place of one without meaning. It may not miss it for long.
func TestAHeaderInAnothersPlaceIsNoticedSoon(t *testing.T) {
	var s Shape
	for range 5 {
		byShape(&s, countdown(9), 200)
	}
	h := countdown(9, "Retry-After: 5")
	delete(h, "Server")
	missed := 0
	for !byShape(&s, h, 200).RetryAfter.Known {
		missed++
		require.LessOrEqual(t, missed, trusted)
	}
	require.Positive(t, missed, "the test is of a shape in use")
	require.True(t, byShape(&s, h, 200).RetryAfter.Known, "and from then on it belongs to the shape")
}

func TestAnswersFromACacheAreReadInFull(t *testing.T) {
	var s Shape
	for range 3 {
		byShape(&s, countdown(9, "Age: 0"), 200)
	}
	require.Empty(t, byShape(&s, countdown(9, "Age: 5"), 200).Quotas)
	require.NotEmpty(t, byShape(&s, countdown(9, "Age: 0"), 200).Quotas)
}

func TestAnswersOfTwoSizesInTurnMakeNoShape(t *testing.T) {
	var s Shape
	for range 5 {
		byShape(&s, countdown(9), 200)
		byShape(&s, countdown(9, "Via: 1"), 200)
	}
	require.Nil(t, s.known.Load())
}

func TestMoreThanAShapeHolds(t *testing.T) {
	var s Shape
	h := header(pool...)
	delete(h, "Age")
	for range 3 {
		requireSameReport(t, Parse(h, 200, noon), byShape(&s, h, 200))
	}
	require.Nil(t, s.known.Load())
}

func TestOneShapeForManyReaders(t *testing.T) {
	var s Shape
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for left := range 100 {
				if q := byShape(&s, countdown(left), 200).Quotas; len(q) != 1 || q[0].Remaining != Some(float64(left)) {
					t.Errorf("got %v for %d", q, left)
				}
			}
		})
	}
	readers.Wait()
}

func TestAShapeCostsNoAllocation(t *testing.T) {
	var s Shape
	var r Report
	h := countdown(9)
	got := testing.AllocsPerRun(1000, func() { s.ParseInto(&r, h, 200, noon) })
	require.Zero(t, int(got), "a shape is made once in 32 answers")
}

// An answer that somebody has put together by hand may hold one header in two spellings, and so have as many as the shape when they are one.
func TestAShapeDescribesNoAnswerWithOddSpellings(t *testing.T) {
	plain := http.Header{"X-Ratelimit-Limit": {"10"}, "X-Ratelimit-Remaining": {"9"}, "Server": {"a"}}
	odd := http.Header{"X-Ratelimit-Limit": {"-1"}, "X-Ratelimit-Remaining": {"9"}, "Server": {"a"}, "x-ratelimit-limit": {"20"}}
	var s Shape
	var r Report
	for range 2 {
		s.ParseInto(&r, plain, http.StatusOK, time.Time{})
	}
	s.ParseInto(&r, odd, http.StatusOK, time.Time{}) // of another size, so it is read in full
	assert.Nil(t, s.known.Load())
}
