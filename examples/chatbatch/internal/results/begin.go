package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// probeSize is how much room must be there before anything is sent, in bytes: one block of common file systems.
const probeSize = 4096

// Begin makes the file ready for appending, when everything else has been checked: it is created if need be, old contents that are not wanted go, a torn
// tail is cut, a lost newline is added, and there must be room for more.
func (o *Output) Begin() error {
	if !o.IsFile() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, step := range []func() error{o.createLocked, o.mendTailLocked, o.probeLocked} {
		if err := step(); err != nil {
			return fmt.Errorf("%s cannot be written: %w", o.path, err)
		}
	}
	return nil
}

func (o *Output) createLocked() (err error) {
	if o.file == nil {
		o.file, err = openLocked(o.path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		o.w = o.file
	}
	return err
}

func (o *Output) mendTailLocked() error {
	o.size = o.earlier.end
	if err := o.file.Truncate(o.size); err != nil {
		return err
	}
	if _, err := o.file.Seek(o.size, io.SeekStart); err != nil || o.earlier.tail != unended {
		return err
	}
	return o.writeLocked([]byte("\n"))
}

// probeLocked finds a full disk before money is spent: it writes a block behind the results and takes it back.
func (o *Output) probeLocked() error {
	_, err := o.file.WriteAt(bytes.Repeat([]byte(" "), probeSize), o.size)
	return errors.Join(err, o.file.Truncate(o.size))
}
