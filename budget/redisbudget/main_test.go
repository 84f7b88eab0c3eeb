package redisbudget

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if orders := env("WORKER"); orders != "" {
		os.Exit(work(orders))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "5"); err != nil { // they wait more than they work
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
