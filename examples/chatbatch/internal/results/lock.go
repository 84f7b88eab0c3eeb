package results

import (
	"errors"
	"fmt"
	"os"
)

// ErrInUse says that another process writes to the file.
var ErrInUse = errors.New("another process is writing to it")

// openLocked opens path and locks it. The lock goes with the process, so a killed one leaves none behind. Between opening and locking another process
// may have put a new file in the old one's place; then the new one is opened.
func openLocked(path string, flag int) (*os.File, error) {
	const tries = 10 // each needs another process that finishes at that very moment
	for range tries {
		file, err := os.OpenFile(path, flag, 0o644)
		if err != nil {
			return nil, err
		}
		if err := lock(file); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
		}
		if isAt(file, path) {
			return file, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", path, ErrInUse)
}

func isAt(file *os.File, path string) bool {
	ours, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}
