package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asProgram makes this test binary be the program itself, for tests that need a process to kill.
const asProgram = "CHATBATCH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}
