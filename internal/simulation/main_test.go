package simulation

import (
	"os"
	"runtime/debug"
	"testing"
)

// The runs make much short-lived garbage and keep little: collecting it less often than by default saves a fifth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
