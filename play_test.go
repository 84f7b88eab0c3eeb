package throttle

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

// errand is one piece of work of a play: when it comes, what it wants, and when it gives up.
type errand struct {
	at       time.Duration // zero = never
	cost     budget.Cost
	priority int
	patience time.Duration // how long until its context is cancelled; 0 = never
	work     time.Duration // how long it keeps its slot
	undone   bool          // it is cancelled instead of done, after its work
}

// departure is an errand that was admitted, and when.
type departure struct {
	errand int
	at     time.Duration
}

// apart spreads moments so that no two of them fall together: whatever comes first is then the same in every run.
func apart(i int, d time.Duration) time.Duration {
	return d.Truncate(time.Millisecond) + time.Duration(7*i+3)
}

// play lets errands come in virtual time, all with the same key, and returns the departures in their order.
func play(t *testing.T, errands []errand, opts ...Option) (left []departure) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tr, err := NewTransport(newServer(always), opts...)
		require.NoError(t, err)
		defer tr.Close()
		start := time.Now()
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i, e := range errands {
			if e.at == 0 {
				continue // it does not come
			}
			wg.Go(func() {
				time.Sleep(e.at)
				p, err := e.acquire(tr)
				if err != nil {
					return
				}
				mu.Lock()
				left = append(left, departure{i, time.Since(start)})
				mu.Unlock()
				time.Sleep(e.work)
				if e.undone {
					p.Cancel()
				} else {
					p.Done()
				}
			})
		}
		wg.Wait()
	})
	return inOrder(left)
}

// inOrder sorts departures by their moment. Who left in one moment is told by number: nobody can tell in which order they did.
func inOrder(left []departure) []departure {
	slices.SortFunc(left, func(a, b departure) int { return cmp.Or(cmp.Compare(a.at, b.at), a.errand-b.errand) })
	return left
}

func (e errand) acquire(tr *Transport) (*Permit, error) {
	ctx := context.Background()
	if e.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer time.AfterFunc(e.patience, cancel).Stop()
	}
	return tr.Acquire(ctx, Call{Key: "k", Cost: e.cost, Priority: e.priority})
}

// crowd is n errands at random moments within a span.
func crowd(r *rand.Rand, n int, within time.Duration) []errand {
	all := make([]errand, n)
	for i := range all {
		all[i].at = apart(i, time.Duration(r.Float64()*float64(within)))
	}
	return all
}

// model plays errands as simply as possible: at every moment at which something happens, it goes through the queue from the front.
type model struct {
	laws    map[string][]budget.Budget // by unit
	slots   int
	waiting []*modelled
	left    []departure
}

type modelled struct {
	errand
	index  int
	passed float64
}

// occasion is a moment at which something happens to an errand.
type occasion struct {
	at time.Duration
	do func()
}

// epoch is when a synctest bubble begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func playModel(t require.TestingT, errands []errand, slots int, policies ...budget.Policy) []departure {
	m := &model{laws: map[string][]budget.Budget{}, slots: slots}
	if slots == 0 {
		m.slots = math.MaxInt
	}
	for _, p := range policies {
		law, err := budget.New(p)
		require.NoError(t, err)
		unit := p.Resolve().Unit
		m.laws[unit] = append(m.laws[unit], law)
	}
	var agenda []occasion
	add := func(at time.Duration, do func()) { agenda = append(agenda, occasion{at, do}) }
	for i, e := range errands {
		w := &modelled{errand: e, index: i}
		add(e.at, func() { m.arrive(w) })
		if e.patience > 0 {
			add(e.at+e.patience, func() { m.remove(w) })
		}
	}
	for now := time.Duration(0); ; {
		for w := m.next(now); w != nil; w = m.next(now) {
			left := now
			add(left+w.work, func() { m.end(w, left) })
		}
		sort.SliceStable(agenda, func(i, j int) bool { return agenda[i].at < agenda[j].at })
		wake, ok := m.wake(now)
		switch {
		case len(agenda) > 0 && (!ok || agenda[0].at <= wake):
			o := agenda[0]
			agenda = agenda[1:]
			now = o.at
			o.do()
		case ok:
			now = wake
		default:
			return inOrder(m.left)
		}
	}
}

// arrive queues w by priority, then by arrival, unless it can never leave.
func (m *model) arrive(w *modelled) {
	if _, _, ever := m.when(w, w.at); !ever {
		return
	}
	i := 0
	for i < len(m.waiting) && m.waiting[i].priority >= w.priority {
		i++
	}
	m.waiting = append(m.waiting[:i], append([]*modelled{w}, m.waiting[i:]...)...)
}

func (m *model) remove(w *modelled) {
	for i := range m.waiting {
		if m.waiting[i] == w {
			m.waiting = append(m.waiting[:i:i], m.waiting[i+1:]...)
			return
		}
	}
}

// when is the moment at which w may leave, by which unit it waits for, and whether it ever may.
func (m *model) when(w *modelled, now time.Duration) (at time.Duration, unit string, ever bool) {
	at = now
	for u, laws := range m.laws {
		for _, law := range laws {
			d, ever := law.Wait(epoch.Add(now), w.cost.Of(u))
			if !ever {
				return 0, u, false
			}
			if now+d > at {
				at, unit = now+d, u
			}
		}
	}
	return at, unit, true
}

// candidates are who may leave next, in that order, and when: the head, or if it waits for units some who are smaller.
func (m *model) candidates(now time.Duration, f func(w *modelled, at time.Duration) bool) {
	if len(m.waiting) == 0 || m.slots == 0 {
		return
	}
	head := m.waiting[0]
	at, unit, _ := m.when(head, now)
	if f(head, at) || at == now {
		return
	}
	for _, w := range m.waiting[1:min(len(m.waiting), 1+lookPast)] {
		part := w.cost.Of(unit) / head.cost.Of(unit)
		if w.priority != head.priority || part > 0 && (part >= 1 || head.passed+part > 1) {
			continue
		}
		if at, _, _ := m.when(w, now); f(w, at) {
			head.passed += part
			return
		}
	}
}

// next admits whoever may leave at now, or nobody.
func (m *model) next(now time.Duration) (next *modelled) {
	m.candidates(now, func(w *modelled, at time.Duration) bool {
		if at == now {
			next = w
		}
		return at == now
	})
	if next == nil {
		return nil
	}
	for unit, laws := range m.laws {
		for _, law := range laws {
			law.Take(epoch.Add(now), next.cost.Of(unit))
		}
	}
	m.slots--
	m.remove(next)
	m.left = append(m.left, departure{next.index, now})
	return next
}

// wake is when somebody may leave next if nothing happens before.
func (m *model) wake(now time.Duration) (wake time.Duration, ok bool) {
	m.candidates(now, func(_ *modelled, at time.Duration) bool {
		if !ok || at < wake {
			wake, ok = at, true
		}
		return false
	})
	return wake, ok
}

// end gives back the slot of w, and what it took if it is undone.
func (m *model) end(w *modelled, left time.Duration) {
	m.slots++
	if !w.undone {
		return
	}
	for unit, laws := range m.laws {
		for _, law := range laws {
			if n := w.cost.Of(unit); n > 0 {
				budget.GiveBack(law, epoch.Add(left), epoch.Add(left+w.work), n)
			}
		}
	}
}
