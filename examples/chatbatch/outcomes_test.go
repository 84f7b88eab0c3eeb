package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

// byText gives faults by a word in the request, so that each line of a test meets its own.
func byText(faults map[string]throttletest.Fault) throttletest.Option {
	return throttletest.WithFaults(func(_ int, r *httpRequest) *throttletest.Fault {
		body, err := r.GetBody()
		if err != nil {
			return nil
		}
		text := readAll(body)
		for word, f := range faults {
			if strings.Contains(text, word) {
				return &f
			}
		}
		return nil
	})
}

// Whatever happens to a request, it leaves one line of the right shape, and the summary adds up.
func TestEveryOutcomeLeavesOneLine(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(byText(map[string]throttletest.Fault{
			"wrong":    {Status: 400, Body: []byte("{\n \"error\": {\"message\": \"no <such> field\", \"type\": \"invalid_request_error\", \"code\": null}\n}")},
			"refused":  {Status: 429, Header: http.Header{"Retry-After": {"1"}}},
			"broken":   {Status: 500, Body: []byte(`{"error":{"message":"oops","type":"server_error"}}`)},
			"slow":     {Delay: time.Hour},
			"reset":    {Reset: true},
			"page":     {Body: []byte("<html>Welcome to the hotel</html>")},
			"gateway":  {Status: 502, Body: []byte("<html>Bad Gateway</html>")},
			"torn":     {Torn: true, After: 20},
			"trickle":  {Drip: time.Hour},
			"redirect": {Status: 302, Header: http.Header{"Location": {"https://elsewhere.invalid/"}}},
		}))
		var in strings.Builder
		words := []string{"fine", "wrong", "refused", "broken", "slow", "reset", "page", "gateway", "torn", "trickle", "redirect"}
		for _, w := range words {
			fmt.Fprintln(&in, request(w, w))
		}
		fmt.Fprintln(&in, `{"custom_id":"bad","body":null}`)
		p := newProgram(t, in.String(), up)
		d := p.send(t, "-max-attempts", "2", "-timeout", "30s", "-concurrency", "1") // one by one: a redirect before any answer would stop the job
		assert.Equal(t, exitSomeFailed, d.code, d.stderr)
		all := d.byID(t)
		require.Len(t, all, len(words)+1)
		assert.Equal(t, "no <such> field", messageOf(t, all["wrong"]))
		for id, want := range map[string]int{"fine": 200, "wrong": 400, "refused": 429, "broken": 500, "gateway": 502, "redirect": 302} {
			require.NotNil(t, all[id].Response, id)
			assert.Equal(t, want, all[id].Response.StatusCode, id)
			assert.Nil(t, all[id].Error, id)
		}
		assert.Contains(t, string(all["gateway"].Response.Body), "Bad Gateway")
		for id, want := range map[string]string{
			"slow": "timeout", "reset": "connection_failed", "page": "answer_not_json", "torn": "connection_failed", "trickle": "timeout", "bad": "body_not_object",
		} {
			assert.Nil(t, all[id].Response, id)
			require.NotNil(t, all[id].Error, id)
			assert.Equal(t, want, all[id].Error.Code, "%s: %s", id, all[id].Error.Message)
		}
		assert.Contains(t, all["page"].Error.Message, "Welcome to the hotel")
		for id, want := range map[string]int{"fine": 1, "wrong": 1, "refused": 2, "broken": 2, "slow": 2, "reset": 2, "page": 1, "gateway": 2, "torn": 2, "trickle": 2, "bad": 0} {
			assert.Equal(t, want, all[id].Attempts, id)
		}
		assert.Equal(t, 1+1+2+2+2+2+1+2+2+2+1, up.Stats().Arrivals, "the server saw as many requests as the lines tell")
		assert.Contains(t, d.stderr, "1 answered, 10 failed")
		assert.Contains(t, d.stderr, "2 × timeout")
		assert.Contains(t, d.stderr, "1 × HTTP 400 invalid_request_error")
		assert.Contains(t, d.stderr, "1 × answer_not_json")
		assert.Contains(t, d.stderr, "1 lines: 1 × body_not_object")
	})
}

func messageOf(t *testing.T, r result) string {
	t.Helper()
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(r.Response.Body, &body))
	return body.Error.Message
}

// What passes is tried again, within the attempts, and nobody else waits behind it.
func TestPassingFaultsAreRetried(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(func(n int, _ *httpRequest) *throttletest.Fault {
			switch n {
			case 20:
				return &throttletest.Fault{Status: 502}
			case 40:
				return &throttletest.Fault{Reset: true}
			case 60:
				return &throttletest.Fault{Delay: time.Hour}
			case 80:
				return &throttletest.Fault{Torn: true, After: 30}
			}
			return nil
		}))
		d := newProgram(t, requests(200), up).send(t, "-max-attempts", "3", "-timeout", "20s")
		assert.Equal(t, exitDone, d.code, d.stderr)
		assert.Equal(t, 200, d.answered())
		assert.Equal(t, 204, up.Stats().Arrivals)
		attempts := map[int]int{}
		for _, r := range d.out {
			attempts[r.Attempts]++
		}
		assert.Equal(t, map[int]int{1: 196, 2: 4}, attempts)
	})
}

// A refusal early in a long job is answered soon after, not after everything else.
func TestARefusedRequestComesBackSoon(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(throttletest.WithFaults(func(n int, _ *httpRequest) *throttletest.Fault {
			if n == 10 {
				return &throttletest.Fault{Status: 429, Header: http.Header{"Retry-After": {"5"}}}
			}
			return nil
		}))
		d := newProgram(t, requests(600), up).send(t, "-rpm", "60", "-concurrency", "16")
		require.Equal(t, exitDone, d.code)
		for i, r := range d.out {
			if r.Attempts == 2 {
				assert.Less(t, i, 60)
				assert.GreaterOrEqual(t, r.HeldMS, int64(5000))
				return
			}
		}
		t.Error("no line tells of the second attempt")
	})
}

// Waiting in the own budget is told apart from what the server imposed, and from the time of the request.
func TestWaitsAreToldApart(t *testing.T) {
	virtual(t, func(t *testing.T) {
		d := newProgram(t, requests(20), calm()).send(t, "-rpm", "10")
		require.Equal(t, exitDone, d.code)
		waited := 0
		for _, r := range d.out {
			assert.Zero(t, r.HeldMS)
			if r.WaitedMS > 50_000 {
				waited++
			}
		}
		assert.Equal(t, 10, waited)
		assert.Contains(t, d.stderr, "0s held by the server")
	})
}

func TestAllFailedIsNoSuccess(t *testing.T) {
	virtual(t, func(t *testing.T) {
		d := newProgram(t, requests(5), calm(after(0, throttletest.Fault{Status: 400}))).send(t)
		assert.Equal(t, exitSomeFailed, d.code)
		assert.Len(t, d.out, 5)
	})
}

// With -ordered the output has the order of the input, although answers do not.
func TestOrderedOutput(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithLatency(throttletest.Latency{Service: throttletest.LogNormal(time.Second, 1.5)}))
		d := newProgram(t, requests(300)+"nonsense\n"+request("last", "x")+"\n", up).send(t, "-ordered", "-concurrency", "20")
		assert.Equal(t, exitSomeFailed, d.code)
		require.Len(t, d.out, 301)
		for i, r := range d.out[:300] {
			assert.Equal(t, fmt.Sprintf("id-%d", i), r.CustomID)
		}
	})
}

// One slow request must not let the others run away from it where nothing but the memory can hold their results.
func TestOrderedOutputIsBounded(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(byText(map[string]throttletest.Fault{`Question 7"`: {Delay: time.Hour}}))
		p := newProgram(t, requests(1000), up)
		var arrived atomic.Int64
		time.AfterFunc(30*time.Minute, func() { arrived.Store(int64(up.Stats().Arrivals)) })
		d := p.start(t, "-i", p.input, "-url", apiHost, "-ordered", "-concurrency", "5", "-timeout", "2h")
		assert.Equal(t, exitDone, d.code)
		assert.Equal(t, int64(7+windowPerWorker*5), arrived.Load(), "the seven before it, and a window from it on")
		for i, r := range parseResults(t, d.stdout) {
			assert.Equal(t, fmt.Sprintf("id-%d", i), r.CustomID)
		}
	})
}

// A stopped job in order keeps all that was paid for.
func TestOrderedOutputOfAStoppedJob(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(byText(map[string]throttletest.Fault{`Question 3"`: {Delay: time.Hour}}))
		p := newProgram(t, requests(100), up)
		d := p.send(t, "-ordered", "-concurrency", "5", "-timeout", "2h", "-deadline", "10m", "-grace", "1s")
		assert.Equal(t, exitStopped, d.code)
		assert.Equal(t, up.Stats().Arrivals-1, d.answered())
	})
}

func readAll(r io.ReadCloser) string {
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
