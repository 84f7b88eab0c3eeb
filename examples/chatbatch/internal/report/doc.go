// Package report draws a run of a batch as one HTML page that needs nothing else: the charts are SVG inside the page, there are no scripts.
//
//	err := report.Write(file, report.Page{
//		Title:  "requests.jsonl",
//		Facts:  []report.Fact{{"answered", "480"}},
//		Points: tally.Series(),
//	})
package report
