package main

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// locked lets several goroutines write whole texts.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes p whole.
func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// isTerminal tells whether a person sees what is written to w as it comes.
func isTerminal(w io.Writer) bool {
	if l, ok := w.(*locked); ok {
		w = l.w
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
