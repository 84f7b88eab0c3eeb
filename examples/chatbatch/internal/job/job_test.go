package job

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
	"github.com/seed-18ca0a92/throttle/llm"
)

// doer answers as it likes; it has no throttle, so a job stands alone.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// through counts every call as an attempt, like the throttle's transport would.
func through(t *Tally, f func(*http.Request) (*http.Response, error)) doer {
	traffic := &Traffic{Base: roundTripper(f), Tally: t}
	return func(r *http.Request) (*http.Response, error) {
		if c, ok := throttle.FromContext(r.Context()); ok && c.Result != nil {
			c.Result.Attempts = 1
		}
		return traffic.RoundTrip(r)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// list is a feed of n requests, and then an error.
type list struct {
	n, given int
	end      error
}

func (l *list) Next() (*Task, error) {
	if l.given == l.n {
		return nil, l.end
	}
	l.given++
	return &Task{Request: &batchfile.Request{Line: l.given, ID: fmt.Sprint(l.given), Body: []byte(`{}`)}}, nil
}

// collect is a sink that remembers.
type collect struct {
	mu    sync.Mutex
	lines map[int]*results.Line
	err   error
}

func (c *collect) Reserve(done <-chan struct{}) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}

func (c *collect) Put(n int, l *results.Line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines[n] = l
	return c.err
}

func newJob(t *testing.T, f func(*http.Request) (*http.Response, error)) (*Job, *collect) {
	sink := &collect{lines: map[int]*results.Line{}}
	tally := NewTally()
	brake := NewBrake(t.Context(), 10*time.Second)
	t.Cleanup(brake.Release)
	return &Job{
		Client: through(tally, f), Target: "http://api.example/", Header: http.Header{"X-Test": {"yes"}}, Sink: sink, Tally: tally,
		Brake: brake, Estimator: llm.NewEstimator(), Workers: 4,
	}, sink
}

func TestEveryTaskHasOneResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sink := newJob(t, func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "yes", r.Header.Get("X-Test"))
			time.Sleep(time.Second)
			return answer(200, `{"usage":{"prompt_tokens":1,"total_tokens":3,"completion_tokens":2}}`)
		})
		j.Run(&list{n: 100, end: io.EOF})
		assert.Len(t, sink.lines, 100)
		for n, l := range sink.lines {
			assert.Equal(t, fmt.Sprint(n+1), l.CustomID)
			assert.Equal(t, int64(1000), l.TookMS)
		}
		got := j.Tally.Totals()
		assert.Equal(t, 100, got.Answered)
		assert.Equal(t, llm.Tokens{Input: 100, Output: 200, Total: 300}, got.Tokens)
		assert.Equal(t, Stop{}, j.Brake.Stop())
	})
}

// After the brake was pulled nothing begins, and what is under way ends.
func TestTheBrake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sink := newJob(t, func(*http.Request) (*http.Response, error) {
			time.Sleep(4 * time.Second)
			return answer(200, `{}`)
		})
		time.AfterFunc(6*time.Second, func() {
			j.Brake.Pull(Stop{Kind: Deadline, Text: "late"})
			j.Brake.Pull(Stop{Kind: Interrupted, Text: "only the first counts"})
		})
		feed := &list{n: 100, end: io.EOF}
		began := time.Now()
		j.Run(feed)
		assert.Equal(t, 8*time.Second, time.Since(began))
		assert.Equal(t, "late", j.Brake.Stop().Text)
		assert.Equal(t, 8, j.Tally.Totals().Answered)
		assert.Equal(t, 8, j.Tally.Totals().Requests)
		assert.Len(t, sink.lines, feed.given, "what was read ahead is let go")
		for n, l := range sink.lines {
			assert.Equal(t, n < 8, l != nil)
		}
	})
}

func TestTheBrakeCutsAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sink := newJob(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		time.AfterFunc(time.Second, func() { j.Brake.Pull(Stop{Kind: Deadline}) })
		began := time.Now()
		j.Run(&list{n: 10, end: io.EOF})
		assert.Equal(t, 11*time.Second, time.Since(began))
		got := j.Tally.Totals()
		assert.Zero(t, got.Failed, "a request that was cut off is no failure: the next run sends it")
		assert.Equal(t, []int{4, 2}, []int{got.CutOff, got.Unsent})
		for n := range 4 {
			assert.Equal(t, "cancelled", sink.lines[n].Error.Code)
			assert.Equal(t, 1, sink.lines[n].Attempts)
			assert.NotNil(t, sink.lines[n].SentAt)
			assert.Nil(t, sink.lines[n].Response)
		}
	})
}

func TestAReleasedBrakeCannotBePulled(t *testing.T) {
	b := NewBrake(t.Context(), time.Hour)
	b.Release()
	b.Pull(Stop{Kind: Deadline})
	assert.Equal(t, NotStopped, b.Stop().Kind)
}

func TestAnInputThatBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sink := newJob(t, func(*http.Request) (*http.Response, error) { return answer(200, `{}`) })
		broken := errors.New("the disk is gone")
		j.Run(&list{n: 3, end: broken})
		assert.Equal(t, NoInput, j.Brake.Stop().Kind)
		assert.ErrorIs(t, j.Brake.Stop().Err, broken)
		assert.LessOrEqual(t, len(sink.lines), 3)
	})
}

func TestASinkThatFailsStopsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sink := newJob(t, func(*http.Request) (*http.Response, error) { time.Sleep(time.Second); return answer(200, `{}`) })
		sink.err = errors.New("disk full")
		j.Run(&list{n: 1000, end: io.EOF})
		assert.Equal(t, Stop{Kind: NoOutput, Text: "disk full"}, j.Brake.Stop())
		got := j.Tally.Totals()
		assert.LessOrEqual(t, got.Requests, 2*j.Workers)
		assert.Equal(t, got.Requests, got.Unkept, "what was paid for and lost is told")
		assert.Zero(t, got.Answered)
	})
}

// An answer that breaks off is asked for again, but no more often than allowed in all.
func TestBrokenAnswersAreAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		j, sink := newJob(t, func(r *http.Request) (*http.Response, error) {
			calls++
			c, _ := throttle.FromContext(r.Context())
			assert.Equal(t, 3-calls+1, c.MaxAttempts, "what is left of them")
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"a`), breaking{}))}, nil
		})
		j.MaxAttempts = 3
		j.Run(&list{n: 1, end: io.EOF})
		assert.Equal(t, 3, calls)
		require.NotNil(t, sink.lines[0].Error)
		assert.Equal(t, 3, sink.lines[0].Attempts)
		assert.Positive(t, sink.lines[0].BackedOffMS)
		assert.Contains(t, sink.lines[0].Error.Message, "broke off after 3 bytes")
	})
}

type breaking struct{}

func (breaking) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAnEndlessAnswerIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, sink := newJob(t, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless{})}, nil
		})
		j.Run(&list{n: 1, end: io.EOF})
		assert.Equal(t, "answer_too_large", sink.lines[0].Error.Code)
		assert.Equal(t, 1, sink.lines[0].Attempts, "it would be as large again")
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// One call that learns that the key is refused keeps every other on the ground, also those that are about to leave.
func TestARefusedKeyGroundsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		j, _ := newJob(t, func(*http.Request) (*http.Response, error) {
			calls++
			return answer(401, `{"error":{"code":"invalid_api_key"}}`)
		})
		j.Workers = 1
		j.Run(&list{n: 50, end: io.EOF})
		assert.Equal(t, 1, calls)
		assert.Equal(t, Account, j.Brake.Stop().Kind)
		assert.Contains(t, j.Brake.Stop().Text, "HTTP 401 invalid_api_key")
	})
}

func TestTrafficCountsAndClosesBodies(t *testing.T) {
	tally := NewTally()
	statuses := []int{200, 429, 500, 0}
	i := 0
	traffic := &Traffic{Tally: tally, Base: roundTripper(func(*http.Request) (*http.Response, error) {
		s := statuses[i]
		i++
		if s == 0 {
			return nil, io.EOF
		}
		return answer(s, "")
	})}
	for range statuses {
		req, err := http.NewRequest(http.MethodPost, "http://a.example", http.NoBody)
		require.NoError(t, err)
		_, _ = traffic.RoundTrip(req)
	}
	got := tally.Totals()
	assert.Equal(t, []int{4, 1, 2}, []int{got.Requests, got.Refused, got.Faults})

	b := NewBrake(t.Context(), time.Hour)
	defer b.Release()
	b.Pull(Stop{Kind: Deadline})
	f := b.begin(nil)
	defer f.end()
	body := &closable{Reader: strings.NewReader("x")}
	req, err := http.NewRequestWithContext(f.ctx, http.MethodPost, "http://a.example", body)
	require.NoError(t, err)
	_, err = traffic.RoundTrip(req)
	assert.ErrorIs(t, err, errStopped)
	assert.True(t, body.closed, "the contract of http.RoundTripper")
	traffic.CloseIdleConnections() // the base has none: nothing happens
}

type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }
