// Package budget counts: how much may leave, and when. A Policy declares a limit; its Budget is the running count, by one of
// five algorithms, each in a file of its own with its law and its guarantee. Everything is pure: time is an argument.
//
//	p, err := budget.ParsePolicy("500/minute")
//	b, err := budget.New(p)
//	for d, ever := b.Wait(time.Now(), 1); ever && d > 0; d, ever = b.Wait(time.Now(), 1) {
//		time.Sleep(d)
//	}
//	b.Take(time.Now(), 1)
package budget
