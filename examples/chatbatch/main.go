package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// The exit codes.
const (
	exitDone        = 0   // every request has an answer
	exitSomeFailed  = 1   // some lines were rejected or failed
	exitRefused     = 2   // bad flags, or a file that cannot be used; nothing was sent
	exitStopped     = 3   // stopped before the end: account, quota, deadline, token cap, output
	exitInterrupted = 130 // by Ctrl-C or a kill
)

// world is what surrounds the program.
type world struct {
	env            func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	interrupts     <-chan os.Signal  // the first stops with grace, the second at once; may be nil
	network        http.RoundTripper // what requests go through; nil = connections of its own
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // so that a reader that goes away is an error of the write, which stops the job as it should
	redis.SetLogger(silent{})
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(context.Background(), os.Args[1:], world{
		env: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, interrupts: interrupts,
	}))
}
