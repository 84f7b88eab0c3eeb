package throttle

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// What is worth a line, and how often: a busy queue makes thousands of waits a minute, and nobody reads a log of those.
const (
	logWaitsFrom = time.Second      // shorter waits are never logged
	logEvery     = 10 * time.Second // a key has at most one line of waits, and one of refusals, in this time; the next one sums up
	logKeysMost  = 1024             // keys whose lines are counted apart; beyond, the counts start anew
)

// WithLogger logs what a person wants to know. At Info: holds, and waits of a second or more. At Warn: calls refused here, a shared store that went
// away or came back, bodies never closed. Waits and calls refused are summed up in one line per key in ten seconds, so that a busy queue, or
// the end of one, never floods the log. Default: nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return single("WithLogger", l != nil, func(c *config) { c.logger = l })
}

// logObserver writes to a log what a person wants to know: long waits, holds, calls refused here, a store that went away.
type logObserver struct {
	log *slog.Logger

	mu      sync.Mutex
	waits   map[string]*tally // by key
	refused map[string]*tally // likewise
}

// tally is what has been left unsaid of one key.
type tally struct {
	next    time.Time // when the next line may be written
	count   int
	longest time.Duration
}

func newLogObserver(l *slog.Logger) *logObserver {
	return &logObserver{log: l, waits: map[string]*tally{}, refused: map[string]*tally{}}
}

// Observe writes a line, or counts for a later one.
func (o *logObserver) Observe(ctx context.Context, e Event) {
	switch e.Kind {
	case KindWait, KindBypass:
		if e.Duration >= logWaitsFrom {
			o.wait(ctx, e)
		}
	case KindHold:
		o.hold(ctx, e)
	case KindDrop:
		o.refuse(ctx, e)
	case KindDegraded:
		o.log.LogAttrs(ctx, slog.LevelWarn, "throttle: shared store", slog.String("key", e.Key), slog.Any("err", e.Err))
	case KindForgotten:
		o.log.LogAttrs(ctx, slog.LevelWarn, "throttle: a response body was never closed", slog.String("key", e.Key))
	}
}

func (o *logObserver) hold(ctx context.Context, e Event) {
	attrs := []slog.Attr{slog.String("key", e.Key), slog.Duration("for", e.Duration.Round(time.Millisecond))}
	if e.Status != 0 {
		attrs = append(attrs, slog.Int("status", e.Status))
	}
	o.log.LogAttrs(ctx, slog.LevelInfo, "throttle: on hold", attrs...)
}

func (o *logObserver) refuse(ctx context.Context, e Event) {
	if said, due := o.count(o.refused, e); due {
		o.log.LogAttrs(ctx, slog.LevelWarn, "throttle: refused here", slog.String("key", e.Key), slog.Int("calls", said.count), slog.Any("err", e.Err))
	}
}

func (o *logObserver) wait(ctx context.Context, e Event) {
	said, due := o.count(o.waits, e)
	if !due {
		return
	}
	what := "throttle: waited"
	if e.Kind == KindBypass {
		what = "throttle: would have waited"
	}
	o.log.LogAttrs(ctx, slog.LevelInfo, what, slog.String("key", e.Key), slog.String("cause", e.Cause.String()),
		slog.String("budget", e.Budget), slog.Int("calls", said.count), slog.Duration("longest", said.longest))
}

// count adds an event to its key's tally, and reports whether it is time to say what has come together.
func (o *logObserver) count(all map[string]*tally, e Event) (said tally, due bool) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	t := all[e.Key]
	if t == nil {
		if len(all) == logKeysMost {
			clear(all)
		}
		t = new(tally)
		all[e.Key] = t
	}
	t.count++
	t.longest = max(t.longest, e.Duration)
	if now.Before(t.next) {
		return tally{}, false
	}
	said = *t
	*t = tally{next: now.Add(logEvery)}
	return said, true
}
