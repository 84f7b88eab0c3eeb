package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/report"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
)

// openReport makes sure, before anything is sent, that the file of -report can be written. What is there stays until the run is over.
func (b *batch) openReport() (err error) {
	if b.settings.report == "" {
		return nil
	}
	path := results.Follow(b.settings.report)
	b.page, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	b.pageIsNew = err == nil
	if errors.Is(err, fs.ErrExist) {
		b.page, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	return err
}

// dropReport leaves things as they were: there will be no run.
func (b *batch) dropReport() {
	if b.page == nil {
		return
	}
	_ = b.page.Close() // nothing was written
	if b.pageIsNew {
		_ = os.Remove(b.page.Name())
	}
	b.page = nil
}

// writeReport draws the run, in the place of what was there.
func (b *batch) writeReport() error {
	if b.page == nil {
		return nil
	}
	page := report.Page{Title: "chatbatch: " + b.in.name, Facts: b.facts(), Points: b.tally.Series()}
	return errors.Join(emptied(b.page), report.Write(b.page, page), b.page.Close())
}

// emptied drops the contents of a file; a device has none.
func emptied(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return file.Truncate(0)
}
