package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// probeSize is how much room must be there before anything is sent, in bytes: one block of common file systems.
const probeSize = 4096

// Begin makes the file ready for appending, when everything else has been checked: it is created if need be, old contents that are not wanted go, a torn
// tail is cut, a lost newline is added, the lines of the requests that drop names (they are sent again) are taken out, and there must be room for more.
// A nil drop takes nothing out.
func (o *Output) Begin(drop func(id string) bool) error {
	if o.path == "" {
		return nil
	}
	steps := []func() error{o.create, o.mendTail, func() error { return o.takeOut(drop) }, o.probe}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("%s cannot be written: %w", o.path, err)
		}
	}
	return nil
}

func (o *Output) create() (err error) {
	if o.file == nil {
		o.file, err = openLocked(o.path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		o.w = o.file
	}
	return err
}

func (o *Output) mendTail() error {
	o.size = o.earlier.end
	if err := o.file.Truncate(o.size); err != nil {
		return err
	}
	if _, err := o.file.Seek(o.size, io.SeekStart); err != nil || o.earlier.tail != unended {
		return err
	}
	return o.writeText([]byte("\n"))
}

// TakeOutEarlier takes lines out that stood there before Begin, when the requests that drop names were sent again: the end of a job whose
// input could not be looked at ahead.
func (o *Output) TakeOutEarlier(drop func(id string) bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.path == "" || o.err != nil {
		return o.err
	}
	return o.takeOut(drop)
}

// takeOut writes what is to stay into a new file and puts it in the place of the old one at once, so that a kill at any moment leaves one or
// the other, whole.
func (o *Output) takeOut(drop func(id string) bool) error {
	if drop == nil {
		return nil
	}
	fresh, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*")
	if err != nil {
		return err
	}
	size, err := o.copyKept(fresh, drop)
	if err == nil {
		err = o.replaceBy(fresh)
	}
	if err != nil {
		return errors.Join(err, fresh.Close(), ignoreGone(os.Remove(fresh.Name())))
	}
	o.size = size
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (o *Output) copyKept(to io.Writer, drop func(id string) bool) (size int64, err error) {
	if _, err := o.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	lines, w := batchfile.NewLines(o.file, 0), bufio.NewWriter(to)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return size, w.Flush()
		}
		if err != nil {
			return 0, err
		}
		if line.TooLong {
			return 0, fmt.Errorf("line %d is above %d bytes", line.No, batchfile.MaxLine)
		}
		if s, ok := parseLine(line.Text); ok && line.Offset < o.earlier.end && drop(s.CustomID) {
			continue
		}
		size += int64(len(line.Text)) + 1
		_, _ = w.Write(line.Text) // a failure stays in w and comes back from Flush
		_ = w.WriteByte('\n')
	}
}

// replaceBy puts fresh in the place of the file, with the old one's permissions and a lock of its own.
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

// probe finds a full disk before money is spent: it writes a block behind the results and takes it back.
func (o *Output) probe() error {
	_, err := o.file.WriteAt(bytes.Repeat([]byte(" "), probeSize), o.size)
	return errors.Join(err, o.file.Truncate(o.size))
}
