package throttle

import "cmp"

// classID is what makes calls of one lane differ in their budgets.
type classID struct {
	routes   routeSet // those that match them
	resource string   // as the server names it; empty while it names none
}

// class is the calls of a lane that share all their budgets, and so wait in one queue.
type class struct {
	id     classID
	meters []meter
	shared []*shared // budgets that live in a store
	queue  queue
}

// classOf finds or makes the class of a call. l.mu must be held.
func (l *lane) classOf(w *waiter) (*class, error) {
	id := classID{routes: w.routes, resource: l.resources.of(w)}
	if l.order[0].id == id { // almost always
		return l.order[0], nil
	}
	if c := l.classes[id]; c != nil {
		return c, nil
	}
	return l.newClass(id)
}

func (l *lane) newClass(id classID) (*class, error) {
	c := &class{id: id}
	if err := l.assemble(c); err != nil {
		return nil, &LimitError{Key: l.key, Err: err}
	}
	l.classes[id] = c
	l.order = append(l.order, c)
	return c, nil
}

// assemble gathers the budgets of a class: those of the key, those of its routes, and what the server announced.
func (l *lane) assemble(c *class) error {
	c.meters, c.shared = c.meters[:0], c.shared[:0]
	for _, d := range l.ofKey {
		c.add(d)
	}
	if l.account != nil {
		c.shared = append(c.shared, l.account)
	}
	for i := range l.cfg.routes {
		if !c.id.routes.has(i) {
			continue
		}
		if l.cfg.store != nil {
			account, err := l.accountOfRoute(i)
			if err != nil {
				return err
			}
			c.shared = append(c.shared, account)
			continue
		}
		own, err := l.ofRoute(i)
		if err != nil {
			return err
		}
		for _, d := range own {
			c.add(d)
		}
	}
	for _, a := range l.mirrors {
		if a.covers(c) {
			c.add(a)
		}
	}
	return nil
}

// add adds a budget once, however many of the routes share it.
func (c *class) add(m meter) {
	if !c.uses(m.what()) {
		c.meters = append(c.meters, m)
	}
}

// uses reports whether calls of the class draw on a budget.
func (c *class) uses(name *meterName) bool {
	for _, m := range c.meters {
		if m.what() == name {
			return true
		}
	}
	for _, s := range c.shared {
		if &s.meterName == name {
			return true
		}
	}
	return false
}

// ofRoute is the budgets of a route, made at its first call.
func (l *lane) ofRoute(i int) ([]*declared, error) {
	if own, ok := l.byRoute[i]; ok {
		return own, nil
	}
	r := &l.cfg.routes[i]
	own, err := l.declareAll(r.policies)
	if err != nil {
		return nil, err
	}
	for _, d := range own {
		d.name = cmp.Or(d.name, r.pattern)
	}
	l.byRoute[i] = own
	return own, nil
}

// reassemble gathers the budgets of every class anew, after some have come or gone.
func (l *lane) reassemble() error {
	for _, c := range l.order {
		if err := l.assemble(c); err != nil {
			return err
		}
	}
	l.count()
	return nil
}
