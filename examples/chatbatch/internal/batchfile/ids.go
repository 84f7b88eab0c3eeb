package batchfile

import "hash/maphash"

// IDs remembers which ids were seen and a number for each, in 16 bytes an id however long the ids are. Two seeded 64-bit hashes
// stand for the text: at a million ids the odds of one false match are below 1 in 10^26. The zero value is not usable; see NewIDs.
type IDs struct {
	a, b maphash.Seed
	seen map[[2]uint64]int
}

// NewIDs is an empty set.
func NewIDs() *IDs {
	return &IDs{a: maphash.MakeSeed(), b: maphash.MakeSeed(), seen: map[[2]uint64]int{}}
}

func (s *IDs) hash(id string) [2]uint64 {
	return [2]uint64{maphash.String(s.a, id), maphash.String(s.b, id)}
}

// Get returns the number kept for id.
func (s *IDs) Get(id string) (n int, ok bool) {
	n, ok = s.seen[s.hash(id)]
	return n, ok
}

// Set keeps n for id in the place of an earlier number.
func (s *IDs) Set(id string, n int) { s.seen[s.hash(id)] = n }

// Add keeps n for id unless there is a number already, which it then returns.
func (s *IDs) Add(id string, n int) (first int, dup bool) {
	h := s.hash(id)
	if first, dup = s.seen[h]; dup {
		return first, true
	}
	s.seen[h] = n
	return n, false
}

// Len is how many ids there are.
func (s *IDs) Len() int { return len(s.seen) }
