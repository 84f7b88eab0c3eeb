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

// terminal is the file behind w, if a person sees what is written to it as it comes.
func terminal(w io.Writer) *os.File {
	if l, ok := w.(*locked); ok {
		w = l.w
	}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// usualColumns is the width of a terminal that does not tell.
const usualColumns = 80

// columns is the width of the terminal behind w.
func columns(w io.Writer) int {
	if file := terminal(w); file != nil {
		if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return usualColumns
}

// cut shortens a text of one line so that it does not break into two.
func cut(text string, most int) string {
	if letters := []rune(text); len(letters) > max(most, 1) {
		return string(letters[:max(most, 1)-1]) + "…"
	}
	return text
}
