package batchfile

import "hash/maphash"

// IDs keeps a value for each id, in 16 bytes an id and those of the value, however long the ids are. Two seeded 64-bit hashes
// stand for the text: at a million ids the odds of one false match are below 1 in 10^26.
type IDs[V any] struct {
	a, b maphash.Seed
	seen map[[2]uint64]V
}

// NewIDs is an empty set.
func NewIDs[V any]() *IDs[V] {
	return &IDs[V]{a: maphash.MakeSeed(), b: maphash.MakeSeed(), seen: map[[2]uint64]V{}}
}

func (s *IDs[V]) hash(id string) [2]uint64 {
	return [2]uint64{maphash.String(s.a, id), maphash.String(s.b, id)}
}

// Get returns the value kept for id.
func (s *IDs[V]) Get(id string) (v V, ok bool) {
	v, ok = s.seen[s.hash(id)]
	return v, ok
}

// Set keeps v for id in the place of an earlier value.
func (s *IDs[V]) Set(id string, v V) { s.seen[s.hash(id)] = v }

// Add keeps v for id unless there is a value already, which it then returns.
func (s *IDs[V]) Add(id string, v V) (first V, dup bool) {
	h := s.hash(id)
	if first, dup = s.seen[h]; dup {
		return first, true
	}
	s.seen[h] = v
	return v, false
}

// Len is how many ids there are.
func (s *IDs[V]) Len() int { return len(s.seen) }
