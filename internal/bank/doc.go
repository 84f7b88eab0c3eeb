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
// A Bank is one key's. It is pure: time is an argument, nothing sleeps, nothing locks, and it must not be used from two goroutines
// at once.
package bank
