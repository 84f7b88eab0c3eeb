package job

import "sync"

// maxAheadBytes bounds what is read ahead, in bytes of the requests' bodies, so that long ones do not fill the memory.
const maxAheadBytes = 16 << 20

// queue hands tasks out in the order of the input, except that a model that has to wait is passed by the others: its limits are its own. Of the workers a
// model's waiting requests take no more than half of those that others leave free, so that whichever model can be sent finds one.
type queue struct {
	mu      sync.Mutex
	task    sync.Cond // there may be a task for a worker
	room    sync.Cond // there may be room for a task
	lanes   map[string]*lane
	ahead   int // most tasks that no worker has
	free    int // workers without a task
	tasks   int // that no worker has yet
	bytes   int
	ended   bool // no more are put
	stopped bool // the order does not matter any more: all are handed out to be let go
}

// lane is the requests of one model.
type lane struct {
	tasks   []*Task // that no worker has yet
	flying  int     // that are under way at the server
	waiting int     // that a worker has, and that wait for their turn
	held    Stop    // why none of them can go for longer than a job sleeps
}

func newQueue(workers, ahead int) *queue {
	q := &queue{lanes: map[string]*lane{}, free: workers, ahead: max(ahead, 1)}
	q.task.L, q.room.L = &q.mu, &q.mu
	return q
}

// put adds a task, when there is room. It is false if the job was stopped first.
func (q *queue) put(t *Task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.tasks > 0 && (q.tasks >= q.ahead || q.bytes+len(t.Request.Body) > maxAheadBytes) && !q.stopped {
		q.room.Wait()
	}
	if q.stopped {
		return false
	}
	l := q.lanes[t.Request.Model]
	if l == nil {
		l = &lane{}
		q.lanes[t.Request.Model] = l
	}
	t.lane = l
	l.tasks = append(l.tasks, t)
	q.tasks++
	q.bytes += len(t.Request.Body)
	q.task.Signal()
	return true
}

// take gives a worker its next task, which begins by waiting; false when there will be no more.
func (q *queue) take() (*Task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if l := q.next(); l != nil {
			return q.pop(l), true
		}
		if q.ended && q.tasks == 0 {
			return nil, false
		}
		q.task.Wait()
	}
}

// next is the lane of the first task of the input that may go; nil if none may.
func (q *queue) next() (first *lane) {
	if q.tasks == 0 {
		return nil
	}
	for _, l := range q.lanes {
		if len(l.tasks) > 0 && (first == nil || l.tasks[0].n < first.tasks[0].n) && q.may(l) {
			first = l
		}
	}
	return first
}

func (q *queue) may(l *lane) bool {
	return q.stopped || (l.held.Kind == NotStopped && (l.waiting == 0 || 2*l.waiting < q.free))
}

func (q *queue) pop(l *lane) *Task {
	t := l.tasks[0]
	l.tasks[0] = nil // or it would stay in memory
	l.tasks = l.tasks[1:]
	l.waiting++
	q.free--
	q.tasks--
	q.bytes -= len(t.Request.Body)
	q.room.Signal()
	q.task.Signal() // the next may be for another worker
	return t
}

// move notes that a task that waited is under way now, or the other way round.
func (q *queue) move(l *lane, away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if away {
		l.waiting, l.flying = l.waiting-1, l.flying+1
		q.task.Signal()
	} else {
		l.waiting, l.flying = l.waiting+1, l.flying-1
	}
}

// hold keeps the requests of a model back, while others go on.
func (q *queue) hold(l *lane, why Stop) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.held = why
}

// stuck is why nothing goes on: nothing is under way, and whatever is left is held back. Of several reasons the one that ends first counts.
func (q *queue) stuck() (why Stop, is bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.lanes {
		if l.flying+l.waiting > 0 || (l.held.Kind == NotStopped && len(l.tasks) > 0) {
			return Stop{}, false
		}
		if l.held.Kind != NotStopped && (!is || l.held.Until.Before(why.Until)) {
			why, is = l.held, true
		}
	}
	return why, is
}

// done takes a task back from its worker.
func (q *queue) done(t *Task, away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := t.lane
	if away {
		l.flying--
	} else {
		l.waiting--
	}
	if len(l.tasks)+l.flying+l.waiting == 0 && l.held.Kind == NotStopped {
		delete(q.lanes, t.Request.Model)
	}
	q.free++
	q.task.Signal()
}

// end says that no more tasks are put.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.task.Broadcast()
}

// stop has all that is left handed out at once.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.task.Broadcast()
	q.room.Broadcast()
}
