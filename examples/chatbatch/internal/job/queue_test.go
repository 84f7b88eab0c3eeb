package job

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
)

func taskOf(n int, model string) *Task {
	return &Task{n: n, Request: &batchfile.Request{ID: fmt.Sprint(n), Model: model, Body: []byte("{}")}}
}

// filled is a queue with one task for each letter, which is its model.
func filled(t *testing.T, workers int, models string) *queue {
	t.Helper()
	q := newQueue(workers, len(models))
	for n, m := range models {
		require.True(t, q.put(taskOf(n, string(m))))
	}
	return q
}

// taken is the models of the tasks that workers get while nothing is sent.
func taken(q *queue) (models string) {
	for q.free > 0 && q.next() != nil {
		t, _ := q.take()
		models += t.Request.Model
	}
	return models
}

func TestWaitingModelsLeaveWorkersFree(t *testing.T) {
	for _, c := range []struct {
		workers      int
		models, want string
	}{
		{1, "aab", "a"},
		{2, "aab", "ab"},
		{8, "aaaaaaaa", "aaa"},
		{8, "aaaaaaaabbbbbbbbcdef", "aaabbcde"},
		{4, "abababab", "ab"},
	} {
		assert.Equal(t, c.want, taken(filled(t, c.workers, c.models)), "%d workers, %s", c.workers, c.models)
	}
}

// What is under way at the server makes room for the next of its model, up to all workers.
func TestOneModelMayUseAllWorkers(t *testing.T) {
	q := filled(t, 8, "aaaaaaaaaaaa")
	for range 8 {
		task, ok := q.take()
		require.True(t, ok)
		q.move(task.lane, true)
	}
	assert.Zero(t, q.free)
	assert.Equal(t, 8, q.lanes["a"].flying)
}

func TestAHeldModelIsPassed(t *testing.T) {
	q := filled(t, 4, "aabb")
	first, _ := q.take()
	soon, late := Stop{Kind: Hold, Until: time.Unix(100, 0)}, Stop{Kind: Hold, Until: time.Unix(200, 0)}
	q.hold(first.lane, late)
	q.done(first, false)
	_, stuck := q.stuck()
	assert.False(t, stuck, "the other can go on")
	assert.Equal(t, "b", taken(q)[:1])
	b := q.lanes["b"]
	q.hold(b, soon)
	_, stuck = q.stuck()
	assert.False(t, stuck, "some are under way")
	for b.waiting > 0 {
		q.done(&Task{lane: b, Request: &batchfile.Request{Model: "b"}}, false)
	}
	why, stuck := q.stuck()
	assert.True(t, stuck)
	assert.Equal(t, soon, why, "that is when going on makes sense")
	q.stop()
	task, ok := q.take()
	assert.True(t, ok, "held ones are let go in the end")
	assert.Equal(t, "a", task.Request.Model)
}

// The queue takes no more than it may hold, and wakes who waits for room or for tasks.
func TestTheQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2, 3)
		put := 0
		go func() {
			for n := 0; q.put(taskOf(n, "m")); n++ {
				put++
			}
		}()
		synctest.Wait()
		assert.Equal(t, 3, put)
		first, _ := q.take()
		synctest.Wait()
		assert.Equal(t, 4, put)
		q.done(first, false)
		q.stop()
		synctest.Wait()
		q.end()
		for range 3 {
			_, ok := q.take()
			assert.True(t, ok)
		}
		_, ok := q.take()
		assert.False(t, ok)
	})
}

func TestLongRequestsFillTheQueueSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 100)
		long := func(n int) *Task {
			task := taskOf(n, "m")
			task.Request.Body = make([]byte, maxAheadBytes)
			return task
		}
		require.True(t, q.put(long(0)), "one of any length has room")
		second := false
		go func() { second = q.put(long(1)) }()
		synctest.Wait()
		assert.False(t, second)
		_, _ = q.take()
		synctest.Wait()
		assert.True(t, second)
	})
}

// Whatever is put, sent, refused and ended in whatever order: the counts stay right, a lane that is empty goes, each task comes once and those of a model in
// their order.
func TestAnyTraffic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		workers := rapid.IntRange(1, 6).Draw(rt, "workers")
		q := newQueue(workers, 50)
		type call struct {
			task *Task
			away bool
		}
		var calls []*call
		last := map[string]int{}
		n, got := 0, 0
		for range rapid.IntRange(0, 80).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				if q.tasks < 50 {
					q.put(taskOf(n, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "model")))
					n++
				}
			case 1:
				if q.free > 0 && q.next() != nil {
					task, _ := q.take()
					assert.GreaterOrEqual(rt, task.n, last[task.Request.Model])
					last[task.Request.Model] = task.n
					calls = append(calls, &call{task: task})
					got++
				}
			case 2:
				if len(calls) > 0 {
					c := calls[rapid.IntRange(0, len(calls)-1).Draw(rt, "which moves")]
					c.away = !c.away
					q.move(c.task.lane, c.away)
				}
			case 3:
				if len(calls) > 0 {
					i := rapid.IntRange(0, len(calls)-1).Draw(rt, "which ends")
					q.done(calls[i].task, calls[i].away)
					calls = append(calls[:i], calls[i+1:]...)
				}
			}
			assert.Equal(rt, workers-len(calls), q.free)
			assert.Equal(rt, n-got, q.tasks)
			assert.False(rt, q.tasks > 0 && q.free == workers && q.next() == nil, "idle workers and waiting tasks")
		}
		for _, c := range calls {
			q.done(c.task, c.away)
		}
		for q.next() != nil {
			task, _ := q.take()
			q.done(task, false)
		}
		assert.Empty(rt, q.lanes)
		assert.Zero(rt, q.bytes)
	})
}
