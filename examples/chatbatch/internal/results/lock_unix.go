//go:build unix && !solaris && !aix

package results

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the file for this process, or fails at once.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}
