// Package mirror follows one announced quota by the limit, remaining and reset that a server puts on its answers, learns from
// them how the server counts, and says when the next call may leave so that the whole quota is used and nothing is refused.
//
//	m := mirror.New(now)
//	at, lone, ever := m.At(now, 1, waiting, net) // when may one unit leave?
//	m.Spend(at, 1)                               // it leaves
//	m.Learn(mirror.Answer{Sent: at, Received: now, Cost: 1, Quota: q}, net)
//
// Everything rests on one number, the supply: the own units the server will have granted in all. An answer to a call says that
// it is what had been sent by then, plus what Remaining leaves. In a fixed window the supply is a staircase, in a bucket a
// line, in a sliding log a staircase that repeats our own sends; the answers show which.
package mirror
