package redisbudget

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if orders := env("WORKER"); orders != "" {
		os.Exit(work(orders))
	}
	goleak.VerifyTestMain(m)
}
