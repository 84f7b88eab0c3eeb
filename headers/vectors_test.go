package headers

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// unshipped are the vendor rows whose rule is not worth its code: only their wait is compared.
var unshipped = map[string]string{
	"kong-response-200": "the operator chooses the unit, so a name cannot be told from one",
}

func vectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/headers.json")
	require.NoError(t, err)
	var vs []vector
	require.NoError(t, json.Unmarshal(data, &vs))
	require.NotEmpty(t, vs)
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
			switch {
			case v.Level == "ambiguous":
				requireSane(t, got)
			case unshipped[v.ID] != "":
				requireSameWait(t, v.Want.RetryAfter, got.RetryAfter)
			default:
				requireSameWait(t, v.Want.RetryAfter, got.RetryAfter)
				requireSameQuotas(t, v.Want.Quotas, got.Quotas)
			}
		})
	}
}

func requireSameWait(t *testing.T, want *float64, got Maybe[time.Duration]) {
	t.Helper()
	require.Equal(t, number3(want), seconds3(got), "the wait in seconds")
}

func requireSameQuotas(t *testing.T, want []vectorQuota, got []Quota) {
	t.Helper()
	var w, g []string
	for _, q := range want {
		w = append(w, fmt.Sprintf("%s %q limit=%s remaining=%s reset=%s window=%s", q.Unit, q.Name, number3(q.Limit), number3(q.Remaining), number3(q.Reset), number3(q.Window)))
	}
	for _, q := range got {
		g = append(g, fmt.Sprintf("%s %q limit=%s remaining=%s reset=%s window=%s", q.Unit, q.Name, count3(q.Limit), count3(q.Remaining), seconds3(q.Reset), seconds3(q.Window)))
	}
	assert.ElementsMatch(t, w, g)
}

// number3 prints to the millisecond, the precision of the vectors.
func number3(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.4g|%.3f", *f, math.Round(*f*1000)/1000)
}

func count3(m Maybe[float64]) string {
	if !m.Known {
		return "unknown"
	}
	return number3(&m.Value)
}

func seconds3(m Maybe[time.Duration]) string {
	if !m.Known {
		return "unknown"
	}
	s := m.Value.Seconds()
	return number3(&s)
}
func requireSane(t testing.TB, r Report) {}
