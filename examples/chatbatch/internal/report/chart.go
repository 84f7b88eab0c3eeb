package report

import (
	"errors"
	"fmt"
	"html/template"
	"time"

	"github.com/go-analyze/charts"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

const width, height = 960, 320 // of a chart, in pixels; the page scales it

// chart is one picture with its words.
type chart struct {
	Title, Note string
	SVG         template.HTML
}

// series is one line or one kind of bar.
type series struct {
	name  string
	value func(job.Point) float64
}

// draw makes the charts of a run; a run that sent nothing has none.
func draw(points []job.Point) ([]chart, error) {
	if len(points) == 0 {
		return nil, nil
	}
	all := []chart{
		{Title: "Rate and limit", Note: "Requests a second that were sent, and the limit where one is known."},
		{Title: "Waits", Note: "Seconds that requests had waited when they ended, added up over all of them, by cause."},
		{Title: "Refusals and failures", Note: "Answers with status 429, and answers with 5xx or none at all."},
	}
	err := errors.Join(
		all[0].paint(lines(points, series{"sent", rateOf}, series{"limit", limitOf})),
		all[1].paint(bars(points,
			series{"own turn", func(p job.Point) float64 { return p.Waited.Seconds() }},
			series{"held by the server", func(p job.Point) float64 { return p.Held.Seconds() }},
			series{"after failures", func(p job.Point) float64 { return p.BackedOff.Seconds() }})),
		all[2].paint(bars(points,
			series{"429", func(p job.Point) float64 { return float64(p.Refused) }},
			series{"lost or 5xx", func(p job.Point) float64 { return float64(p.Faults) }})))
	return all, err
}

// paint takes the picture; where there is none, the words say so.
func (c *chart) paint(svg template.HTML, err error) error {
	c.SVG = svg
	if svg == "" {
		c.Note = "There were none."
	}
	return err
}

// rateOf is taken over the time that a point really covers.
func rateOf(p job.Point) float64 { return float64(p.Sent) / p.Length.Seconds() }

func limitOf(p job.Point) float64 {
	if p.Limit == 0 {
		return charts.GetNullValue()
	}
	return p.Limit
}

func (s series) over(points []job.Point) []float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = s.value(p)
	}
	return values
}

func names(all []series) (list []string) {
	for _, s := range all {
		list = append(list, s.name)
	}
	return list
}

func data(points []job.Point, all []series) (rows [][]float64) {
	for _, s := range all {
		rows = append(rows, s.over(points))
	}
	return rows
}

// times labels the points with the time since the beginning.
func times(points []job.Point) (labels []string) {
	for _, p := range points {
		labels = append(labels, p.Start.Round(time.Second).String())
	}
	return labels
}

// labelled is how many labels the axis of time has room for.
const labelled = 12

func lines(points []job.Point, all ...series) (template.HTML, error) {
	o := charts.NewLineChartOptionWithData(data(points, all))
	o.XAxis.Labels, o.XAxis.LabelCount = times(points), min(labelled, len(points))
	o.Legend.SeriesNames = names(all)
	o.Symbol.Shape = charts.SymbolNone
	o.YAxis[0].Min = charts.Ptr(0.0)
	o.ValueFormatter = number
	return render(func(p *charts.Painter) error { return p.LineChart(o) })
}

// bars is empty if all values are zero.
func bars(points []job.Point, all ...series) (template.HTML, error) {
	if nothing(data(points, all)) {
		return "", nil
	}
	o := charts.NewBarChartOptionWithData(data(points, all))
	o.CategoryAxis.Labels, o.CategoryAxis.LabelCount = times(points), min(labelled, len(points))
	o.Legend.SeriesNames = names(all)
	o.StackSeries = charts.Ptr(true)
	o.ValueAxis[0].Min = charts.Ptr(0.0)
	o.ValueFormatter = number
	return render(func(p *charts.Painter) error { return p.BarChart(o) })
}

func nothing(rows [][]float64) bool {
	for _, row := range rows {
		for _, v := range row {
			if v != 0 {
				return false
			}
		}
	}
	return true
}

func number(v float64) string { return fmt.Sprintf("%.4g", v) }

// render paints one chart. What the library writes is made of our own numbers and words alone, so it is safe as it is.
func render(paint func(*charts.Painter) error) (template.HTML, error) {
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: width, Height: height})
	if err := paint(p); err != nil {
		return "", err
	}
	svg, err := p.Bytes()
	return template.HTML(svg), err
}
