package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
	b, err := prepare(s, w)
	if err != nil {
		return refuse(w.stderr, err)
	}
	defer b.close()
	if add != nil {
		add(b)
	}
	if s.dryRun {
		return b.dryRun()
	}
	return b.run(ctx)
}
