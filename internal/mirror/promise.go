package mirror

// promise is the reset of the newest answer, where it is not known to be the time until a bucket is full: perhaps nothing is given
// back before it. Refusals show that it is so, admissions that it is not.
type promise struct {
	known    bool
	from, to moment // in which it lies
	strict   int    // as many promises are waited for to their latest moment, since calls before it were refused
	patience int    // how many the next refusal adds
	broken   bool   // something was given back before a promise: they mean something else
}

// strictFirst is how many promises are kept strictly after the first refusal; every further one doubles it, up to strictMost.
const (
	strictFirst = 8
	strictMost  = 1 << 20
)

func (p *promise) hear(r *reading) {
	p.known = r.timed
	if r.timed {
		p.from, p.to = r.from(), r.to()
	}
}

// test takes in the answer to a call that needed more than had been shown to be there.
func (p *promise) test(r *reading) {
	switch {
	case !p.known || r.received >= p.to:
	case r.refused:
		p.patience = min(max(strictFirst, 2*p.patience), strictMost)
		p.strict = p.patience
	case !r.refused && r.received < p.from:
		p.broken = true
	case !r.refused:
		p.strict = max(0, p.strict-1)
	}
}

// binds says whether nothing comes back before the promise.
func (p *promise) binds() bool { return p.known && p.strict > 0 && !p.broken }
