package job

import "sync"

// Spend keeps a job within a number of tokens: what was used and what the calls under way may use at most. A nil Spend has no cap.
type Spend struct {
	most int64

	mu       sync.Mutex
	settled  *sync.Cond
	used     int64
	reserved int64
	closed   bool
}

// NewSpend caps a job at most tokens, of which some were used by earlier runs.
func NewSpend(most, used int64) *Spend {
	s := &Spend{most: most, used: used}
	s.settled = sync.NewCond(&s.mu)
	return s
}

// reserve takes n tokens for a call. While they do not fit it waits for calls under way to settle for less; it is false when there are none left to
// wait for, or the job was stopped.
func (s *Spend) reserve(n int64) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.used+s.reserved+n > s.most {
		if s.reserved == 0 || s.closed {
			return false
		}
		s.settled.Wait()
	}
	s.reserved += n
	return true
}

// settle replaces a reservation by what was used.
func (s *Spend) settle(reserved, used int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved -= reserved
	s.used += used
	s.settled.Broadcast()
}

// close ends all waiting.
func (s *Spend) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.settled.Broadcast()
}
