package redisbudget

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed laws.lua
var laws string

//go:embed script.lua
var decision string

// serverClock makes the script run on the clock of the server. Tests have another.
const serverClock = "local clock = redis.call('TIME') local now = clock[1] * 1000000 + clock[2]\n"

// script is a text and the name that Redis knows it by.
type script struct{ text, sha string }

func newScript(clock string) script {
	text := clock + laws + decision
	sum := sha1.Sum([]byte(text)) // not for secrecy: it is how EVALSHA names a script
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}

// ask is what a process wants to know, and what it has to tell. Amounts are by policy.
type ask struct {
	number    uint64 // of this account's asks
	policies  string // what describe says of them
	opens     bool   // first words of an account: its policies are the newest
	epoch     string // of the state that we know; empty for none
	nonce     string // for a state that is to begin now
	remembers bool   // that state cannot have expired since we saw it
	away      time.Duration
	process   string
	life      time.Duration // after which a process counts as dead; negative: this one leaves
	slots     int
	slotLife  time.Duration // how long after its moment a slot may be used,
	guard     time.Duration // and how long after that the call may arrive
	horizon   time.Duration // a first slot further ahead is not wanted, only the wait
	expires   time.Time     // by the server's clock: no slots are wanted when the script runs later; zero for no such time
	fair      float64       // slots that each process may have if all want many; 0 = as many as are asked for
	quiet     time.Duration // how long others may take to come back, should all have been away; 0 = there are none
	hold      time.Duration
	tells     time.Time     // until when that is, by our clock
	resumes   time.Time     // holds from before that moment of the server's clock are over; zero = none
	resumed   time.Time     // the same by our clock
	age       time.Duration // how long ago the oldest of what is given back was due; negative if it lies ahead
	need      []float64     // the first slot
	more      []float64     // each one after it
	back      []float64     // given back; negative: debt
	spent     []float64     // while away: our own account of it,
	own       []string      // and when that was, in pairs of how long ago and of units; not for a bucket
	memory    []float64     // believed to be spent in the current window,
	trail     []string      // and when, for a log; none = nobody knows
}

// args are the arguments of the script.
func (q *ask) args() []any {
	args := []any{q.policies, bit(q.opens), q.epoch, q.nonce, bit(q.remembers), micros(q.away), q.process, micros(q.life),
		q.slots, micros(q.slotLife), micros(q.guard), micros(q.horizon), moment(q.expires), amount(q.fair),
		micros(q.quiet), micros(q.hold), micros(q.age), moment(q.resumes)}
	for i := range q.need {
		args = append(args, amount(q.need[i]), amount(q.more[i]), amount(q.back[i]), trail(q.own, i), amount(q.memory[i]), trail(q.trail, i))
	}
	return args
}

// trail is the one of a policy; "-" where nobody knows it.
func trail(all []string, i int) string {
	if i >= len(all) {
		return "-"
	}
	return all[i]
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func amount(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }

// moment is a time as the script counts it.
func moment(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return strconv.FormatInt(t.UnixMicro(), 10)
}

// once is a command that is never repeated by itself: when its answer is lost nobody knows whether it ran, and slots would be taken
// twice.
type once struct{ *redis.Cmd }

// NoRetry tells the client so.
func (once) NoRetry() bool { return true }

// run lets Redis run the script. Where it is not known (any more) the text is sent along, once.
func (s script) run(ctx context.Context, client redis.UniversalClient, n names, q *ask) (any, error) {
	reply, err := s.send(ctx, client, "evalsha", s.sha, n, q)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		return s.send(ctx, client, "eval", s.text, n, q)
	}
	return reply, err
}

func (s script) send(ctx context.Context, client redis.UniversalClient, verb, what string, n names, q *ask) (any, error) {
	args := append([]any{verb, what, 2, n.state, n.processes}, q.args()...)
	cmd := once{redis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(3)
	_ = client.Process(ctx, cmd)
	return cmd.Result()
}
