package results

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// Tidy takes the lines out in whose place others count, so that each id has one, and puts the lines in the order of rank, if there is one; ids without a
// rank come first. It is the end of a job: until then nothing that was paid for is anywhere but in the file. If it fails, as where no second file can be made,
// the file stays as it is, and the last line of an id counts.
func (o *Output) Tidy(rank func(id string) (int, bool)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.IsFile() || o.err != nil || (o.outdated == 0 && rank == nil) {
		return nil
	}
	keep, err := o.choose(rank)
	if err != nil || (o.outdated == 0 && slices.IsSortedFunc(keep, byRank)) {
		return err
	}
	slices.SortStableFunc(keep, byRank)
	fresh, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*")
	if err != nil {
		return err
	}
	if err = o.copyTo(fresh, keep); err == nil {
		err = o.replaceBy(fresh)
	}
	if err != nil {
		return errors.Join(err, fresh.Close(), ignoreGone(os.Remove(fresh.Name())))
	}
	o.outdated = 0
	return nil
}

// span is a part of the file: some lines.
type span struct {
	rank      int
	off, size int64
}

func byRank(a, b span) int { return cmp.Compare(a.rank, b.rank) }

// choose finds the lines that count.
func (o *Output) choose(rank func(id string) (int, bool)) (keep []span, err error) {
	lines := batchfile.NewLines(io.NewSectionReader(o.file, 0, o.size), MaxLine)
	lines.SkipMark()
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return keep, nil
		}
		if err != nil {
			return nil, err
		}
		s := span{off: line.Offset, size: line.Size}
		if seen, ok := parseLine(line.Text); ok {
			if !o.counts(seen.CustomID, line.Offset) {
				continue
			}
			if rank != nil {
				s.rank, _ = rank(seen.CustomID)
			}
		}
		keep = join(keep, s)
	}
}

// join adds a span, to the last one where they meet.
func join(all []span, s span) []span {
	if n := len(all); n > 0 && all[n-1].rank == s.rank && all[n-1].off+all[n-1].size == s.off {
		all[n-1].size += s.size
		return all
	}
	return append(all, s)
}

// counts tells whether the line at off is the one that counts for id.
func (o *Output) counts(id string, off int64) bool {
	at, known := o.newer.Get(id)
	if !known {
		at, known = o.earlier.place(id)
	}
	return !known || at == off
}

func (o *Output) copyTo(to io.Writer, parts []span) error {
	w := bufio.NewWriter(to)
	for _, p := range parts {
		n, err := io.Copy(w, io.NewSectionReader(o.file, p.off, p.size))
		if err == nil && n < p.size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("%s cannot be copied: %w", o.path, err)
		}
	}
	return w.Flush()
}

// replaceBy puts fresh in the place of the file at once, so that a kill at any moment leaves one or the other, whole; with the old one's permissions and
// a lock of its own.
func (o *Output) replaceBy(fresh *os.File) error {
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return fresh.Chmod(info.Mode().Perm()) },
		fresh.Sync,
		func() error { return lock(fresh) },
		func() error { return os.Rename(fresh.Name(), o.path) },
		o.file.Close,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	o.file, o.w = fresh, fresh
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
