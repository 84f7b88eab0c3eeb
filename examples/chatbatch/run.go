package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, w world) int {
	w.stderr = &locked{w: w.stderr}
	s, err := parseFlags(args, w.stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err == nil:
		err = s.checkLimits()
	}
	if err != nil {
		return refuse(w.stderr, err)
	}
	if s.demo() {
		return runDemo(ctx, s, w)
	}
	return runBatch(ctx, s, w, nil)
}

// refuse says in one sentence what is wrong; nothing was sent.
func refuse(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "chatbatch: %v\n", err)
	return exitRefused
}

// runBatch does what the flags say, after what is known beyond them was added.
func runBatch(ctx context.Context, s *settings, w world, add func(*batch)) int {
	if s.deadline > 0 {
		s.over = time.After(s.deadline)
	}
	p := prepareUnlessStopped(ctx, s, w)
	switch {
	case p.stopped:
		return p.code
	case p.err != nil:
		return refuse(w.stderr, p.err)
	}
	defer p.batch.close()
	if add != nil {
		add(p.batch)
	}
	if s.dryRun {
		return p.batch.dryRun()
	}
	return p.batch.run(ctx)
}

// prepared is what prepare returned, or why it was not waited for.
type prepared struct {
	batch *batch
	err   error

	stopped bool
	code    int
}

// prepareUnlessStopped ends early when a signal or the deadline comes first. Nothing was changed then, and whatever is still being read can be left behind.
func prepareUnlessStopped(ctx context.Context, s *settings, w world) prepared {
	result := make(chan prepared, 1)
	go func() {
		b, err := prepare(s, w)
		result <- prepared{batch: b, err: err}
	}()
	select {
	case p := <-result:
		return p
	case <-s.over:
		fmt.Fprintf(w.stderr, "chatbatch: %s before there was a request to send\n", s.overText())
		return prepared{stopped: true, code: exitStopped}
	case <-w.interrupts:
	case <-ctx.Done():
	}
	return prepared{stopped: true, code: exitInterrupted}
}
