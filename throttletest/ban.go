package throttletest

import "time"

// Ban punishes hammering: a caller who collects Refusals of limits within Within is refused everything For a time. The zero Ban
// punishes nobody.
type Ban struct {
	Refusals    int
	Within, For time.Duration
	Status      int // of the refusals while it lasts; 0 = that of any refusal
	// Extends starts the time anew with every call that is made during it.
	Extends bool
}

// offender is what is remembered of one key.
type offender struct {
	refusals []time.Time // the newest, at most Ban.Refusals of them
	until    time.Time   // zero before the first ban
}

// banned says how long a ban goes on, zero if there is none, and counts the call against the caller.
func (o *offender) banned(b Ban, now time.Time) time.Duration {
	left := o.until.Sub(now)
	if left <= 0 {
		return 0
	}
	if b.Extends {
		o.until = now.Add(b.For)
		return b.For
	}
	return left
}

// refused notes a refusal and says whether it was one too many.
func (o *offender) refused(b Ban, now time.Time) bool {
	if b.Refusals == 0 {
		return false
	}
	o.refusals = append(o.refusals, now)
	if len(o.refusals) < b.Refusals {
		return false
	}
	first := o.refusals[len(o.refusals)-b.Refusals]
	o.refusals = o.refusals[len(o.refusals)-b.Refusals+1:]
	if now.Sub(first) > b.Within {
		return false
	}
	o.until, o.refusals = now.Add(b.For), nil
	return true
}

func (b Ban) check() error {
	if b == (Ban{}) {
		return nil
	}
	if b.Refusals <= 0 || b.Within <= 0 || b.For <= 0 || b.Status != 0 && !isStatus(b.Status) {
		return errorf("ban: refusals, within and for must be positive, the status in 200..599")
	}
	return nil
}
