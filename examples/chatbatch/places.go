package main

import (
	"fmt"
	"os"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
)

// place is a file that the program reads or writes: one that is there, or the path of one that is not yet.
type place struct {
	flag, path string
	info       os.FileInfo // nil: nothing is there
}

// placeOf is where a path leads.
func placeOf(flag, path string) place {
	p := place{flag: flag, path: results.Follow(path)}
	if info, err := os.Stat(p.path); err == nil {
		p.info = info
	}
	return p
}

// placeOfStream is the file behind a stream, if it is one.
func placeOfStream(flag string, stream any) place {
	p := place{flag: flag}
	if file, ok := stream.(*os.File); ok {
		if info, err := file.Stat(); err == nil {
			p.path, p.info = file.Name(), info
		}
	}
	return p
}

// is tells whether both are one file, by whatever links. Terminals and other devices may serve for several things at a time.
func (p place) is(q place) bool {
	if p.info != nil && q.info != nil {
		return p.info.Mode().IsRegular() && os.SameFile(p.info, q.info)
	}
	return p.info == nil && q.info == nil && p.path != "" && p.path == q.path
}

// checkPlaces keeps input, output and report from being one file, before anything is created or changed.
func (b *batch) checkPlaces() error {
	s := b.settings
	all := []place{placeOfStream("-i", b.in.from), placeOfStream("standard output", b.world.stdout)}
	if s.output != "" {
		all[1] = placeOf("-o", s.output)
	}
	if s.report != "" {
		all = append(all, placeOf("-report", s.report))
	}
	for i, p := range all {
		for _, q := range all[:i] {
			if p.is(q) {
				return fmt.Errorf("%s and %s are the same file (%s): each needs one of its own", q.flag, p.flag, p.path)
			}
		}
	}
	return nil
}
