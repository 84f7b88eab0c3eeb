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
	logEvery     = 10 * time.Second // a key has at most one line of waits in this time; the next one sums up
	logKeysMost  = 1024             // keys whose lines are counted apart; beyond, the counts start anew
)

// WithLogger logs what a person wants to know. At Info: holds, and waits of a second or more, summed up in one line per key in ten seconds, so that
// a busy queue never floods the log. At Warn: calls refused here, a shared store that went away or came back, bodies never closed. Default: nothing
// is logged.
func WithLogger(l *slog.Logger) Option {
	return single("WithLogger", l != nil, func(c *config) { c.logger = l })
}

// logObserver writes to a log what a person wants to know: long waits, holds, calls refused here, a store that went away.
type logObserver struct {
	log *slog.Logger

	mu   sync.Mutex
	keys map[string]*waitLog
}

// waitLog is what has been left unsaid of one key's waits.
type waitLog struct {
	next    time.Time // when the next line may be written
	count   int
	longest time.Duration
}

func newLogObserver(l *slog.Logger) *logObserver {
	return &logObserver{log: l, keys: map[string]*waitLog{}}
}

// Observe writes a line, or counts for a later one.
func (o *logObserver) Observe(ctx context.Context, e Event) {
	switch e.Kind {
	case KindWait, KindBypass:
		if e.Duration >= logWaitsFrom {
			o.wait(ctx, e)
		}
	case KindHold:
		o.log.LogAttrs(ctx, slog.LevelInfo, "throttle: on hold", slog.String("key", e.Key), slog.Duration("for", e.Duration), slog.Int("status", e.Status))
	case KindDrop:
		o.log.LogAttrs(ctx, slog.LevelWarn, "throttle: refused here", slog.String("key", e.Key), slog.Any("err", e.Err))
	case KindDegraded:
		o.log.LogAttrs(ctx, slog.LevelWarn, "throttle: shared store", slog.String("key", e.Key), slog.Any("err", e.Err))
	case KindForgotten:
		o.log.LogAttrs(ctx, slog.LevelWarn, "throttle: a response body was never closed", slog.String("key", e.Key))
	}
}

func (o *logObserver) wait(ctx context.Context, e Event) {
	now := time.Now()
	o.mu.Lock()
	w := o.keys[e.Key]
	if w == nil {
		if len(o.keys) == logKeysMost {
			clear(o.keys)
		}
		w = new(waitLog)
		o.keys[e.Key] = w
	}
	w.count++
	w.longest = max(w.longest, e.Duration)
	said := *w
	quiet := now.Before(w.next)
	if !quiet {
		*w = waitLog{next: now.Add(logEvery)}
	}
	o.mu.Unlock()
	if quiet {
		return
	}
	what := "throttle: waited"
	if e.Kind == KindBypass {
		what = "throttle: would have waited"
	}
	o.log.LogAttrs(ctx, slog.LevelInfo, what, slog.String("key", e.Key), slog.String("cause", e.Cause.String()),
		slog.String("budget", e.Budget), slog.Int("calls", said.count), slog.Duration("longest", said.longest))
}
