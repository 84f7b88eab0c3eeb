package results

import (
	"os"
	"path/filepath"
)

// maxLinks is how many links in a row are followed, as in common systems.
const maxLinks = 40

// Follow is where the file at path is, or would be made: through all links, also one that leads to nothing yet. Pipes and devices stay what they are called,
// since some have no other name, and so does a path of which nothing is known.
func Follow(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return path
	}
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return absolute(real)
		}
		to, err := os.Readlink(path)
		if err != nil {
			break // no link: only the file itself is missing
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return absolute(path)
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
