//go:build !unix || solaris || aix

package results

import "os"

// lock does nothing here: the standard library has no file lock for this system.
func lock(*os.File) error { return nil }
