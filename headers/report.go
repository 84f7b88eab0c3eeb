package headers

import "time"

// Maybe is a number that a server may or may not have stated. Its zero value is "unknown", which is never the same as zero.
type Maybe[T any] struct {
	Value T
	Known bool
}

// Some is a known value.
func Some[T any](v T) Maybe[T] { return Maybe[T]{Value: v, Known: true} }

// maybe is v where ok is true, else unknown.
func maybe[T any](v T, ok bool) Maybe[T] {
	if !ok {
		return Maybe[T]{}
	}
	return Some(v)
}

// The units that servers name most. A server's own words for others ("points", "concurrent-requests") are kept as they are.
const (
	requests     = "requests"
	tokens       = "tokens"
	inputTokens  = "input_tokens"
	outputTokens = "output_tokens"
)

// Quota is what one answer said about one limit. Its zero value says nothing.
type Quota struct {
	// Unit is what is counted: "requests", "tokens", "input_tokens", "output_tokens" or a word of the server's.
	Unit string
	// Name tells quotas of one unit apart ("usage_based", "search"); most servers give none.
	Name string
	// Partition tells quotas of one name apart: the base64 text of the structured RateLimit field's pk parameter, which says
	// whose share of the quota this is. Empty with every other family of headers.
	Partition string

	// Limit is how many units fit into a window, Remaining how many were left when the server answered. Neither is negative.
	// Both are as sent: Remaining may exceed Limit, a Limit may be a fraction, and a Limit of 0 on a success means that the
	// server did not count.
	Limit, Remaining Maybe[float64]
	// Reset is the time from the answer until something is given back; what that is (the whole window, one unit, a full
	// bucket) differs between servers. Window is the length the limit is counted over. Neither is negative nor above 366 days.
	Reset, Window Maybe[time.Duration]

	// Grain is how coarse Reset is: the true moment lies within Reset ± Grain. Zero for resets told to the millisecond or finer,
	// 1 s for whole seconds, 2 s for a whole-second moment less a whole-second Date.
	Grain time.Duration
}

// Report is what one answer said. Its zero value is an answer that said nothing.
type Report struct {
	// RetryAfter is the wait that the server asked for, from now. Never negative, never above 366 days.
	RetryAfter Maybe[time.Duration]
	// ShouldRetry is the x-should-retry header of some AI services: the server's own verdict on whether to repeat the call.
	ShouldRetry Maybe[bool]
	// Quotas holds at most one entry for each (unit, name, partition, window), in no particular order, and at most 64 entries.
	Quotas []Quota
}

// maxQuotas bounds a report. Real answers hold up to nine quotas; 64 leaves room for long policy lists, and keeps the
// comparisons of each with each cheap when a hostile header names thousands.
const maxQuotas = 64

// Wait is how long to stay away after a refusal, as far as the answer says: Retry-After; else the latest reset among quotas
// with nothing remaining; else the latest reset among quotas that told their reset and nothing else. The reset of a quota that
// is not exhausted is no reason to wait.
func (r *Report) Wait() Maybe[time.Duration] {
	if r.RetryAfter.Known {
		return r.RetryAfter
	}
	var exhausted, alone Maybe[time.Duration]
	for i := range r.Quotas {
		switch q := &r.Quotas[i]; {
		case !q.Reset.Known:
		case q.Remaining.Known && q.Remaining.Value == 0:
			raise(&exhausted, q.Reset.Value)
		case !q.Remaining.Known && !q.Limit.Known:
			raise(&alone, q.Reset.Value)
		}
	}
	if exhausted.Known {
		return exhausted
	}
	return alone
}

// Add puts q into the report, or into the entry of the same unit, name, partition and window if there is one: then the smaller
// limit, the smaller remaining and the later reset stand, because both told of one quota. A quota of which neither limit nor
// remaining nor reset is known says nothing and is left out. For hooks that read a header of their own.
func (r *Report) Add(q Quota) {
	if !q.tells() {
		return
	}
	if q.Unit == "" {
		q.Unit = requests
	}
	if e := r.entry(q.Unit, q.Name, q.Partition, q.Window); e != nil {
		e.merge(&q)
	}
}

// entry finds the quota of this identity, or appends an empty one. It is nil when the report is full.
func (r *Report) entry(unit, name, partition string, window Maybe[time.Duration]) *Quota {
	i := r.index(unit, name, partition, window)
	if i < 0 {
		return nil
	}
	return &r.Quotas[i]
}

// index is entry by its place; -1 when the report is full.
func (r *Report) index(unit, name, partition string, window Maybe[time.Duration]) int {
	for i := range r.Quotas {
		q := &r.Quotas[i]
		if q.Unit == unit && q.Name == name && q.Window == window && q.Partition == partition {
			return i
		}
	}
	q := r.grow()
	if q == nil {
		return -1
	}
	q.Unit, q.Name, q.Partition, q.Window = unit, name, partition, window
	return len(r.Quotas) - 1
}

// grow appends an empty quota, nil when the report is full. The first growth makes room for two, what an AI answer holds: one
// allocation.
func (r *Report) grow() *Quota {
	n := len(r.Quotas)
	switch {
	case n >= maxQuotas:
		return nil
	case n < cap(r.Quotas):
		r.Quotas = r.Quotas[:n+1]
	default:
		r.reserve(2)
		r.Quotas = append(r.Quotas, Quota{})
	}
	q := &r.Quotas[n]
	*q = Quota{}
	return q
}

// reserve makes room for n quotas in a report that has none yet.
func (r *Report) reserve(n int) {
	if cap(r.Quotas) == 0 {
		r.Quotas = make([]Quota, 0, n)
	}
}

// remove drops an entry. The last one takes its place.
func (r *Report) remove(i int) {
	last := len(r.Quotas) - 1
	r.Quotas[i] = r.Quotas[last]
	r.Quotas = r.Quotas[:last]
}

// tells reports whether the quota states a fact about its count: a window alone is none.
func (q *Quota) tells() bool { return q.Limit.Known || q.Remaining.Known || q.Reset.Known }

// merge takes over what another telling of the same quota says: the smaller counts, the later reset.
func (q *Quota) merge(o *Quota) {
	if o.Limit.Known {
		lower(&q.Limit, o.Limit.Value)
	}
	if o.Remaining.Known {
		lower(&q.Remaining, o.Remaining.Value)
	}
	if o.Reset.Known {
		q.delay(o.Reset.Value, o.Grain)
	}
}

// fill takes over what q does not know yet.
func (q *Quota) fill(o *Quota) {
	if !q.Limit.Known {
		q.Limit = o.Limit
	}
	if !q.Remaining.Known {
		q.Remaining = o.Remaining
	}
	if !q.Reset.Known {
		q.Reset, q.Grain = o.Reset, o.Grain
	}
	if !q.Window.Known {
		q.Window = o.Window
	}
}

// delay moves the reset to d if that is later, or told more finely.
func (q *Quota) delay(d, grain time.Duration) {
	if q.Reset.Known && (d < q.Reset.Value || d == q.Reset.Value && grain >= q.Grain) {
		return
	}
	q.Reset, q.Grain = Some(d), grain
}

func lower(m *Maybe[float64], v float64) {
	if !m.Known || v < m.Value {
		*m = Some(v)
	}
}

func raise(m *Maybe[time.Duration], d time.Duration) {
	if !m.Known || d > m.Value {
		*m = Some(d)
	}
}
