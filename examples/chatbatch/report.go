package main

import (
	"errors"
	"os"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/report"
)

// openReport creates the file of -report before anything is sent, so that a place that cannot be written to is known in time.
func (b *batch) openReport() (err error) {
	if b.settings.report != "" {
		b.page, err = os.Create(b.settings.report)
	}
	return err
}

// dropReport takes the file away again: there will be no run.
func (b *batch) dropReport() {
	if b.page != nil {
		_ = b.page.Close() // it is empty, and
		_ = os.Remove(b.settings.report)
		b.page = nil
	}
}

// writeReport draws the run.
func (b *batch) writeReport() error {
	if b.page == nil {
		return nil
	}
	page := report.Page{Title: "chatbatch: " + b.in.name, Facts: b.facts(), Points: b.tally.Series()}
	return errors.Join(report.Write(b.page, page), b.page.Close())
}
