package throttle

import "time"

// maxClosed is the longest that a server can close a key for: beyond a day its word is kept by refusing calls meanwhile, and asked again.
const maxClosed = 24 * time.Hour

// hold is a time before which nothing leaves. It is only ever extended, but for release. Its clock adds up the time spent on hold, so that a
// call can tell what it waited for the server's sake from what it waited for ours. The zero value is no hold.
type hold struct {
	since, until time.Time
	cause        Cause
	total        time.Duration // of the holds before since
	generation   uint64        // counts the holds: a refusal of a call sent before one began tells nothing new
}

// active reports whether nothing may leave at now.
func (h *hold) active(now time.Time) bool { return now.Before(h.until) }

// extend holds until the given time, and reports whether that is longer than before.
func (h *hold) extend(now, until time.Time, cause Cause) bool {
	if limit := now.Add(maxClosed); until.After(limit) {
		until = limit
	}
	if !until.After(now) || !until.After(h.until) {
		return false
	}
	if !h.active(now) {
		h.total = h.clock(now)
		h.since = now
		h.generation++
	}
	h.until, h.cause = until, cause
	return true
}

// release ends the hold at now.
func (h *hold) release(now time.Time) {
	if h.active(now) {
		h.until = now
	}
}

// heldOf is how much of the time since w came was spent on hold. A hold may have begun before w did: when the answer came that tells of it. And w may
// have come after now, while others were looked at.
func (l *lane) heldOf(w *waiter, now time.Time) time.Duration {
	return max(min(l.hold.clock(now)-w.heldAt, now.Sub(w.start)), 0)
}

// clock is the time spent on hold up to now.
func (h *hold) clock(now time.Time) time.Duration {
	if h.generation == 0 {
		return 0 // almost always
	}
	end := h.until
	if now.Before(end) {
		end = now
	}
	if !end.After(h.since) {
		return h.total
	}
	return h.total + end.Sub(h.since)
}
