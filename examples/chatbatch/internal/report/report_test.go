package report

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

// run is n points of a quarter of a second, ten requests each.
func run(n int) (points []job.Point) {
	for i := range n {
		points = append(points, job.Point{Start: time.Duration(i) * 250 * time.Millisecond, Length: 250 * time.Millisecond, Sent: 10, Limit: 40})
	}
	return points
}

func write(t *testing.T, p Page) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, Write(&b, p))
	return b.String()
}

func TestThePageStandsAlone(t *testing.T) {
	points := run(20)
	points[3].Refused, points[4].Faults, points[5].Held = 2, 1, time.Second
	page := write(t, Page{Title: `<b>"x"</b>`, Facts: []Fact{{"time", "5s & more"}}, Points: points})
	assert.Equal(t, 3, strings.Count(page, "<svg"))
	assert.Contains(t, page, "&lt;b&gt;")
	assert.Contains(t, page, "5s &amp; more")
	assert.NotContains(t, page, "<script")
	assert.NotContains(t, page, "NaN")
	for _, address := range regexp.MustCompile(`(https?:)?//[a-z0-9.]+`).FindAllString(page, -1) {
		assert.Contains(t, address, "www.w3.org", "only the names of the formats, which nobody fetches")
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		assert.NoError(t, wellFormed(svg))
	}
}

func wellFormed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func TestWhatDidNotHappenIsSaid(t *testing.T) {
	page := write(t, Page{Points: run(8)})
	assert.Equal(t, 1, strings.Count(page, "<svg"), "only the rate has a picture")
	assert.Equal(t, 2, strings.Count(page, "There were none."))
}

func TestARunThatSentNothing(t *testing.T) {
	page := write(t, Page{Title: "x", Facts: []Fact{{"requests", "0 answered"}}})
	assert.Contains(t, page, "0 answered")
	assert.NotContains(t, page, "<svg")
}

func TestAnUnknownLimitIsNotZero(t *testing.T) {
	points := run(8)
	for i := range points {
		points[i].Limit = 0
	}
	page := write(t, Page{Points: points})
	assert.Contains(t, page, "<svg")
	assert.NotContains(t, page, "NaN")
}

func TestPointsAreJoinedUntilTheyHaveARate(t *testing.T) {
	assert.Nil(t, regroup(nil))
	joined := regroup(run(10))
	require.Len(t, joined, 3)
	assert.Equal(t, 40, joined[0].Sent)
	assert.Equal(t, time.Second, joined[0].Length)
	assert.Equal(t, 500*time.Millisecond, joined[2].Length, "the last covers what is left")
	for _, p := range joined {
		assert.InDelta(t, 40, rateOf(p), 0)
	}
	assert.LessOrEqual(t, len(regroup(run(10_000))), mostPoints)
}

func TestAWriterThatFailsIsTold(t *testing.T) {
	assert.ErrorContains(t, Write(failing{}, Page{}), "disk full")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }
