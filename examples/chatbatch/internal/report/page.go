package report

import (
	_ "embed" // the page
	"html/template"
	"io"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

// Page is what there is to show.
type Page struct {
	Title  string
	Facts  []Fact
	Points []job.Point // the run over time
}

// Fact is a row of the table.
type Fact struct{ Name, Text string }

//go:embed page.html
var layout string

// Write draws the page.
func Write(w io.Writer, p Page) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	charts, err := draw(regroup(p.Points))
	if err != nil {
		return err
	}
	return t.Execute(w, struct {
		Page
		Charts []chart
	}{p, charts})
}
