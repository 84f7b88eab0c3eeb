package redisbudget

// news is what the owner of an account is to be told. It is told without locks, in order, and by one goroutine at a time.
type news struct {
	events  []error // away because of this; nil: back
	changed bool    // answers of the account may have changed
	telling bool
}

func (n *news) add(err error) {
	n.events = append(n.events, err)
	n.changed = true
}

// announce tells what there is to tell.
func (a *account) announce() {
	for {
		a.mu.Lock()
		n := &a.news
		if n.telling || !n.changed || a.closed {
			a.mu.Unlock()
			return
		}
		events := n.events
		n.events, n.changed, n.telling = nil, false, true
		a.mu.Unlock()
		for _, err := range events {
			a.notify(err)
		}
		a.wake()
		a.mu.Lock()
		n.telling = false
		a.mu.Unlock()
	}
}
