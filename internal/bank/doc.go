// Package bank finds out how a server counts calls when refusals are all it says.
//
// Every way to count is a counter over our own calls, and the right one separates the calls that were let in from those that were
// refused: all let in stand below some number, all refused above it. A Bank keeps one small law for each way, lets every answer
// kill the laws it contradicts, and obeys the living law that promises most. Too much optimism costs one refusal, which kills the
// law that was wrong; too much caution would never be found out.
//
//	b := bank.New()
//	if at, _ := b.At(now, inFlight, net); !at.After(now) {
//		id := b.Sent(now)
//		… send …
//		b.Admitted(id, later, net) // or Refused, or Lost
//	}
//
// A tape remembers our calls. A call is judged when it is ripe: when all that may have arrived in another order than it left is known.
// Values are intervals for the same reason, so that jitter kills no law that is right.
//
// A law that was not yet right twice is tried by one call alone, and then starts slowly. One that proved itself is asked after from
// time to time, since a limit may rise; one that forbids much and proved nothing is asked after 5 s, 15 s, 45 s …, so that no wrong law
// is obeyed for long. A refusal that a proved law did not expect is the server's trouble until a probe tells: it is set aside, and only
// taken as evidence if the probe is let in at once.
//
// When no law is left, the least is given up that brings one back: the limit of the law that held, the exact words of the server, the
// last streak of refusals, the estimate of the jitter, the edges of windows, the older half of the past. If that happens again and
// again, or refusals come as if by chance, others draw on the same quota or the server is in trouble. Then a share is sought by steps,
// which is fair among processes that know nothing of each other.
//
// A Bank is one key's. It is pure: time is an argument, nothing sleeps, nothing locks, and it must not be used from two goroutines
// at once.
package bank
