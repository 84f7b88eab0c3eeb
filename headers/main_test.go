package headers

import (
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the answers of these tests arrive.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// header is made of "Name: value" lines, spelled as net/http spells them.
func header(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		h.Add(name, strings.TrimSpace(value))
	}
	return h
}

// read is what Parse makes of lines, one text per quota, sorted.
func read(lines ...string) []string { return show(Parse(header(lines...), 200, noon)) }

// show is a report's quotas as texts such as
//
//	requests "core" limit=5000 left=4999 reset=1m0s±2s window=1h0m0s
func show(r Report) []string {
	texts := []string{}
	for _, q := range r.Quotas {
		texts = append(texts, showQuota(q))
	}
	sort.Strings(texts)
	return texts
}

func showQuota(q Quota) string {
	s := fmt.Sprintf("%s %q", q.Unit, q.Name)
	if q.Partition != "" {
		s += " of " + q.Partition
	}
	if q.Limit.Known {
		s += fmt.Sprintf(" limit=%g", q.Limit.Value)
	}
	if q.Remaining.Known {
		s += fmt.Sprintf(" left=%g", q.Remaining.Value)
	}
	if q.Reset.Known {
		s += fmt.Sprintf(" reset=%v±%v", q.Reset.Value, q.Grain)
	}
	if q.Window.Known {
		s += fmt.Sprintf(" window=%v", q.Window.Value)
	}
	return s
}

// requireSane checks what holds for every report, however hostile the answer.
func requireSane(t testing.TB, r Report) {
	t.Helper()
	requireLength(t, r.RetryAfter, "RetryAfter")
	require.LessOrEqual(t, len(r.Quotas), 64)
	type identity struct {
		unit, name, partition string
		window                Maybe[time.Duration]
	}
	seen := map[identity]bool{}
	for _, q := range r.Quotas {
		text := showQuota(q)
		require.True(t, q.tells(), "%s says nothing", text)
		require.NotEmpty(t, q.Unit, text)
		requireCount(t, q.Limit, text)
		requireCount(t, q.Remaining, text)
		requireLength(t, q.Reset, text)
		requireLength(t, q.Window, text)
		require.False(t, q.Window.Known && q.Window.Value == 0, "%s has an empty window", text)
		require.True(t, q.Grain >= 0 && q.Grain <= longest, text)
		require.True(t, q.Reset.Known || q.Grain == 0, "%s has a grain of nothing", text)
		id := identity{q.Unit, q.Name, q.Partition, q.Window}
		require.False(t, seen[id], "%s is there twice", text)
		seen[id] = true
	}
}

func requireLength(t testing.TB, d Maybe[time.Duration], what string) {
	t.Helper()
	require.True(t, d.Known || d.Value == 0, "%s: an unknown length has a value", what)
	require.True(t, 0 <= d.Value && d.Value <= 366*24*time.Hour, "%s: %v", what, d.Value)
}

func requireCount(t testing.TB, n Maybe[float64], what string) {
	t.Helper()
	require.True(t, n.Known || n.Value == 0, "%s: an unknown count has a value", what)
	require.True(t, n.Value >= 0 && n.Value < 1e41, "%s: %v", what, n.Value)
}

// answerOf is an answer to a request for this address, or to none.
func answerOf(address string, h http.Header) *http.Response {
	resp := &http.Response{StatusCode: 200, Header: h}
	if address != "" {
		u, err := url.Parse(address)
		if err != nil {
			panic(err)
		}
		resp.Request = &http.Request{URL: u}
	}
	return resp
}
