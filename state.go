package throttle

import (
	"encoding/json"
	"sort"
	"time"
)

// Source says where a budget comes from.
type Source uint8

// The sources.
const (
	SourceDeclared Source = iota // the user's policies
	SourceServer                 // what the server announced
	SourceAdaptive               // worked out from refusals
	SourceShared                 // counted in a store that several processes share
)

var sourceNames = [...]string{"declared", "server", "adaptive", "shared"}

// String is the source in one word.
func (s Source) String() string { return nameOf(sourceNames[:], uint8(s)) }

// MarshalText is the source in one word.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// KeyState is what a transport knows of one key at one moment. Its JSON has seconds as numbers, times as RFC 3339, and leaves out what is
// unknown.
type KeyState struct {
	Key     string        // whose quota
	Budgets []BudgetState // declared, announced, shared and worked out; empty = nothing is limited so far

	Waiting        int           // calls in the queue
	InFlight       int           // calls sent whose answers have not ended
	MaxInFlight    int           // as many at most, as configured or announced; 0 = any number
	OldestInFlight time.Duration // how long the oldest of those has been under way

	Hold      time.Time // until when nothing leaves; zero = no hold
	HoldCause Cause     // CauseHold or CauseOutage; CauseNone = no hold
}

// BudgetState is one budget of a key. Amounts are in its unit; what is not known is negative, or zero for times. Of a shared one they are what the
// store last told: Used counts what all processes have in hand for calls to come, and Available what this one has, so that the two may exceed Limit.
type BudgetState struct {
	Name      string        // of its policy, or the pattern of its route; of an announced one, what the server calls it; empty = it has none
	Unit      string        // what is counted: budget.Requests, or as in a Cost
	Source    Source        // who says so
	Limit     float64       // units per Window
	Window    time.Duration // what Limit is counted over
	Used      float64       // spent and not yet given back by time
	Available float64       // may leave now
	Next      time.Time     // when Available will next grow

	// OverReservation is how many units the calls that were settled had reserved for each that they used; 0 = none was settled. Well above 1,
	// the estimates keep back what others could use: for AI calls, a lower max_tokens may help.
	OverReservation float64
}

// State is what is known of a key, and whether anything is. It never makes a lane, nor keeps one alive.
func (t *Transport) State(key string) (KeyState, bool) {
	l := t.find(key)
	if l == nil {
		return KeyState{}, false
	}
	return l.snapshot(time.Now()), true
}

// Snapshot is the state of every key, in the order of the keys.
func (t *Transport) Snapshot() []KeyState {
	t.mu.RLock()
	lanes := t.allLanes()
	t.mu.RUnlock()
	now := time.Now()
	states := make([]KeyState, 0, len(lanes))
	for _, l := range lanes {
		states = append(states, l.snapshot(now))
	}
	sort.Slice(states, func(i, j int) bool { return states[i].Key < states[j].Key })
	return states
}

func (l *lane) snapshot(now time.Time) KeyState {
	l.lock()
	defer l.mu.Unlock()
	s := KeyState{Key: l.key, Waiting: l.waiting, InFlight: l.flights.len, MaxInFlight: int(l.places.Load())}
	if f := l.flights.oldest; f != nil {
		s.OldestInFlight = now.Sub(f.since)
	}
	if l.hold.active(now) {
		s.Hold, s.HoldCause = l.hold.until, l.hold.cause
	}
	seen := map[*meterName]bool{}
	for _, c := range l.order {
		for _, m := range c.meters {
			if name := m.what(); !seen[name] {
				seen[name] = true
				s.Budgets = append(s.Budgets, budgetState(m, now))
			}
		}
	}
	l.eachAccount(func(a *shared) { s.Budgets = append(s.Budgets, a.states(now)...) })
	if b, ok := l.adaptive(); ok {
		s.Budgets = append(s.Budgets, b)
	}
	return s
}

func budgetState(m meter, now time.Time) BudgetState {
	name, s := m.what(), m.state(now)
	return BudgetState{Name: name.name, Unit: name.unit, Source: name.source,
		Limit: s.Limit, Window: s.Window, Used: s.Used, Available: s.Available, Next: s.Next, OverReservation: name.overReservation()}
}

// MarshalJSON writes the state as described at KeyState.
func (s KeyState) MarshalJSON() ([]byte, error) {
	j := struct {
		Key            string        `json:"key"`
		Budgets        []BudgetState `json:"budgets"`
		Waiting        int           `json:"waiting"`
		InFlight       int           `json:"in_flight"`
		MaxInFlight    int           `json:"max_in_flight,omitempty"`
		OldestInFlight float64       `json:"oldest_in_flight,omitempty"`
		Hold           *time.Time    `json:"hold,omitempty"`
		HoldCause      string        `json:"hold_cause,omitempty"`
	}{s.Key, s.Budgets, s.Waiting, s.InFlight, s.MaxInFlight, s.OldestInFlight.Seconds(), known(s.Hold), ""}
	if j.Budgets == nil {
		j.Budgets = []BudgetState{}
	}
	if j.Hold != nil {
		j.HoldCause = s.HoldCause.String()
	}
	return json.Marshal(j)
}

// MarshalJSON writes the state as described at KeyState.
func (b BudgetState) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name      string     `json:"name,omitempty"`
		Unit      string     `json:"unit"`
		Source    Source     `json:"source"`
		Limit     *float64   `json:"limit,omitempty"`
		Window    float64    `json:"window,omitempty"`
		Used      *float64   `json:"used,omitempty"`
		Available *float64   `json:"available,omitempty"`
		Next      *time.Time `json:"next,omitempty"`
		Over      float64    `json:"over_reservation,omitempty"`
	}{b.Name, b.Unit, b.Source, amount(b.Limit), b.Window.Seconds(), amount(b.Used), amount(b.Available), known(b.Next), b.OverReservation})
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func amount(n float64) *float64 {
	if n < 0 {
		return nil
	}
	return &n
}
