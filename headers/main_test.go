package headers

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

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
	if len(r.Quotas) > 64 {
		t.Fatalf("%d quotas", len(r.Quotas))
	}
	for i, q := range r.Quotas {
		if fault := faultOf(q); fault != "" {
			t.Fatalf("%s: %s", showQuota(q), fault)
		}
		requireLength(t, q.Reset, "Reset")
		requireLength(t, q.Window, "Window")
		for _, o := range r.Quotas[:i] {
			if o.Unit == q.Unit && o.Name == q.Name && o.Partition == q.Partition && o.Window == q.Window {
				t.Fatalf("%s is there twice", showQuota(q))
			}
		}
	}
}

// faultOf says what is wrong with a quota. It prints nothing while nothing is, which keeps the fuzzer fast.
func faultOf(q Quota) string {
	switch {
	case !q.tells():
		return "says nothing"
	case q.Unit == "":
		return "has no unit"
	case !q.Limit.Known && q.Limit.Value != 0 || !q.Remaining.Known && q.Remaining.Value != 0:
		return "an unknown count has a value"
	case !(q.Limit.Value >= 0 && q.Limit.Value < 1e41 && q.Remaining.Value >= 0 && q.Remaining.Value < 1e41):
		return "a count is absurd"
	case q.Window.Known && q.Window.Value == 0:
		return "has an empty window"
	case q.Grain < 0 || q.Grain > longest || q.Grain != 0 && !q.Reset.Known:
		return "has a grain of nothing"
	}
	return ""
}

func requireLength(t testing.TB, d Maybe[time.Duration], what string) {
	t.Helper()
	if d.Value < 0 || d.Value > 366*24*time.Hour || !d.Known && d.Value != 0 {
		t.Fatalf("%s is %v", what, d)
	}
}

// sameQuotas reports whether two reports hold the same, in whichever order.
func sameQuotas(a, b []Quota) bool {
	if len(a) != len(b) {
		return false
	}
	for _, q := range a {
		if !slices.Contains(b, q) {
			return false
		}
	}
	return true
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
