package headers

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// vector is one answer of a real API or server, and what must be read from it.
type vector struct {
	ID         string
	Level      string
	ReceivedAt time.Time `json:"received_at"`
	Status     int
	Headers    [][2]string
	Want       vectorReport
	Body       string
	WantBody   *vectorReport `json:"want_body"`
}

type vectorReport struct {
	RetryAfter *float64 `json:"retry_after_s"`
	Quotas     []vectorQuota
}

type vectorQuota struct {
	Unit, Name       string
	Limit, Remaining *float64
	Reset            *float64 `json:"reset_in_s"`
	Window           *float64 `json:"window_s"`
}

// unshipped are the vendor vectors without a rule, and why: of them only the wait is compared.
var unshipped = map[string]string{
	"kong-response-200": "the operator chooses the unit, and nothing in the header tells a unit from a name",
}

func vectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/headers.json")
	require.NoError(t, err)
	var vs []vector
	require.NoError(t, json.Unmarshal(data, &vs))
	require.Greater(t, len(vs), 100)
	return vs
}

func (v vector) header() http.Header {
	h := http.Header{}
	for _, line := range v.Headers {
		h.Add(line[0], line[1])
	}
	return h
}

func TestEveryVectorIsReadAsItsLevelDemands(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			got := Parse(v.header(), v.Status, v.ReceivedAt)
			requireSane(t, got)
			if v.Level == "ambiguous" {
				return
			}
			require.Equal(t, wantedWait(v.Want.RetryAfter), length(got.RetryAfter))
			if unshipped[v.ID] == "" {
				require.ElementsMatch(t, wantedQuotas(v.Want.Quotas), gotQuotas(got.Quotas))
			}
		})
	}
}

func TestEveryVectorIsReadAlikeWhenItsNamesAreOddlySpelled(t *testing.T) {
	for _, v := range vectors(t) {
		odd := http.Header{}
		for _, line := range v.Headers {
			odd[line[0]] = append(odd[line[0]], line[1]) // as written, without canonicalization
		}
		want, got := Parse(v.header(), v.Status, v.ReceivedAt), Parse(odd, v.Status, v.ReceivedAt)
		require.Equal(t, want.RetryAfter, got.RetryAfter, v.ID)
		require.Equal(t, show(want), show(got), v.ID)
	}
}

func TestEveryVectorBodyIsRead(t *testing.T) {
	bodies := 0
	for _, v := range vectors(t) {
		if v.Body == "" {
			continue
		}
		bodies++
		t.Run(v.ID, func(t *testing.T) {
			got := ParseBody([]byte(v.Body), v.ReceivedAt)
			require.True(t, got.Throttled, "every body of the vectors is a refusal")
			if v.WantBody != nil {
				require.Equal(t, wantedWait(v.WantBody.RetryAfter), length(got.RetryAfter))
				require.ElementsMatch(t, wantedQuotas(v.WantBody.Quotas), gotQuotas(got.Quotas))
			}
		})
	}
	require.Positive(t, bodies)
}

func wantedQuotas(qs []vectorQuota) []string {
	texts := []string{}
	for _, q := range qs {
		texts = append(texts, fmt.Sprintf("%s %q limit %s left %s reset %s window %s",
			q.Unit, q.Name, wantedCount(q.Limit), wantedCount(q.Remaining), wantedWait(q.Reset), wantedWait(q.Window)))
	}
	return texts
}

func gotQuotas(qs []Quota) []string {
	texts := []string{}
	for _, q := range qs {
		texts = append(texts, fmt.Sprintf("%s %q limit %s left %s reset %s window %s",
			q.Unit, q.Name, known(q.Limit), known(q.Remaining), length(q.Reset), length(q.Window)))
	}
	return texts
}

func wantedCount(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return fmt.Sprint(*f)
}

// wantedWait prints to the millisecond, the precision of the vectors.
func wantedWait(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.3f", math.Round(*f*1000)/1000)
}

func known(n Maybe[float64]) string {
	if !n.Known {
		return "unknown"
	}
	return wantedCount(&n.Value)
}

func length(d Maybe[time.Duration]) string {
	if !d.Known {
		return "unknown"
	}
	s := d.Value.Seconds()
	return wantedWait(&s)
}
