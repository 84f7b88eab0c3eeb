package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

// input is where requests come from. A regular file is gone through twice: once to check it all before anything is sent.
type input struct {
	name  string
	from  io.Reader
	start io.Seeker // nil for what can be read only once
	how   batchfile.Options
}

// openInput opens -i.
func openInput(s *settings, w world) (*input, error) {
	switch {
	case s.demo():
		return fromMemory(demoInput), nil
	case s.input == "-":
		return fromStream(s, w.stdin), nil
	}
	file, err := os.Open(s.input)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if info.IsDir() {
		return nil, errors.Join(fmt.Errorf("%s is a directory, not a file of requests", s.input), file.Close())
	}
	in := &input{name: s.input, from: file, how: howOf(s)}
	if info.Mode().IsRegular() {
		in.start = file
	}
	return in, nil
}

func howOf(s *settings) batchfile.Options {
	return batchfile.Options{Format: s.format, MaxLine: s.maxLine}
}

// fromStream is standard input, which may be a file too.
func fromStream(s *settings, stdin io.Reader) *input {
	in := &input{name: "-", from: stdin, how: howOf(s)}
	if file, ok := stdin.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			in.start = file
		}
	}
	return in
}

func fromMemory(text []byte) *input {
	r := bytes.NewReader(text)
	return &input{name: "the sample", from: r, start: r}
}

// whole tells whether the input can be checked before the first request.
func (in *input) whole() bool { return in.start != nil }

// reader begins at the first line.
func (in *input) reader() (*batchfile.Reader, error) {
	if in.start != nil {
		if _, err := in.start.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return batchfile.NewReader(in.from, in.how)
}

func (in *input) close() {
	if file, ok := in.from.(*os.File); ok {
		_ = file.Close() // it was only read
	}
}
