package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// syncEvery bounds what a power cut can take: results are forced to the disk at the end, and when the last time is this long ago. A disk may need
// a tenth of a second for it, in which nobody can write, so more often would cost throughput. A killed process loses nothing, with or without it.
const syncEvery = 30 * time.Second

// Output is where results go. It may be used by many goroutines.
type Output struct {
	path    string // where the file is, links followed; "" for a stream
	earlier *Earlier

	mu       sync.Mutex
	w        io.Writer
	file     *os.File              // nil for a stream, and before Begin where there was no file
	size     int64                 // of the file, all of it whole lines
	newer    *batchfile.IDs[int64] // where lines of this run stand, of ids that had one before or may get another
	outdated int                   // lines in whose place others count
	err      error                 // the first failure; nothing is written after it
	synced   time.Time
}

// To writes to a stream, which cannot be continued later.
func To(w io.Writer) *Output {
	return &Output{w: w, earlier: noEarlier(), newer: batchfile.NewIDs[int64]()}
}

// IsFile tells whether results can be read again, and put in order.
func (o *Output) IsFile() bool { return o.path != "" }

// Open reads what the file at path says, if there is one, and keeps other writers away from it; since is the moment from which sent requests are
// counted. It changes nothing: see Begin. With afresh the old results do not count, and go when Begin is called. ErrNotResults refuses a file of
// something else, also afresh; ErrInUse one that another process writes to.
func Open(path string, since time.Time, afresh bool) (*Output, error) {
	o := To(nil)
	o.path = Follow(path)
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return openDevice(o.path, info)
	}
	if o.file, err = openLocked(o.path, os.O_RDWR); err != nil {
		return nil, err
	}
	o.w = o.file
	lines, what := batchfile.NewLines(o.file, MaxLine), "continued"
	if afresh {
		what, err = "overwritten", checkOurs(lines)
	} else {
		o.earlier, err = readEarlier(lines, since)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be %s: %w", path, what, err), o.file.Close())
	}
	o.outdated = o.earlier.outdated
	return o, nil
}

// openDevice opens what has no contents to continue: a pipe or a device.
func openDevice(path string, info os.FileInfo) (*Output, error) {
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, not a file for results", path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return To(file), nil
}

// Earlier is what the file said when it was opened.
func (o *Output) Earlier() *Earlier { return o.earlier }

// Write adds one result: one write of one whole line. After a failure, of which half a line is taken back where that can be done, every further call
// returns the same error.
func (o *Output) Write(l Line) error {
	text, err := l.encode()
	if err != nil {
		return fmt.Errorf("the result of %q cannot be written: %w", l.CustomID, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.size
	if err := o.writeLocked(text); err != nil {
		return err
	}
	o.noteLocked(&l, at)
	return o.err
}

// noteLocked keeps in mind where the line of an id stands that takes the place of another, or for which another may come: that of a line of the input
// which is no request, since a good one of that id may follow.
func (o *Output) noteLocked(l *Line, at int64) {
	_, again := o.newer.Get(l.CustomID)
	if _, known := o.earlier.Verdict(l.CustomID); known || again {
		o.outdated++
	} else if l.Attempts > 0 {
		return
	}
	o.newer.Set(l.CustomID, at)
}

func (o *Output) writeLocked(text []byte) error {
	if o.err != nil {
		return o.err
	}
	if _, err := o.w.Write(text); err != nil {
		o.err = fmt.Errorf("results cannot be written: %w", err)
		o.takeBackLocked()
		return o.err
	}
	o.size += int64(len(text))
	o.syncLocked()
	return o.err
}

func (o *Output) takeBackLocked() {
	if o.file != nil {
		o.err = errors.Join(o.err, o.file.Truncate(o.size))
	}
}

func (o *Output) syncLocked() {
	now := time.Now()
	if o.file == nil || now.Sub(o.synced) < syncEvery {
		return
	}
	o.synced = now
	if err := o.file.Sync(); err != nil {
		o.err = fmt.Errorf("results cannot be kept: %w", err)
	}
}

// Close forces everything to the disk and lets other writers in. It returns the first failure of all.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return o.err
	}
	err := errors.Join(o.err, o.file.Sync(), o.file.Close())
	o.file = nil
	return err
}
