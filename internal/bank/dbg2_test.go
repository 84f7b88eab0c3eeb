package bank

import (
	"fmt"
	"os"
)

func (b *Bank) dumpLeak() {
	fmt.Printf("   LEAK dead=%v lo %d hi %d guard %v since %d judged %d settled %d len %d\n", b.leak.law.(*leak).dead, b.leak.law.(*leak).lo, b.leak.law.(*leak).hi, b.guard(), b.since, b.tape.judged, b.tape.settled, len(b.tape.sends))
	for k := range b.leak.law.(*leak).drips {
		d := &b.leak.law.(*leak).drips[k]
		if d.rate > 28 && d.rate < 33 && k%2 == 0 {
			fmt.Printf("   %.3f ok %.3f ref %.3f low %.3f high %.3f denied %v\n", d.rate, d.ok, d.ref, d.low, d.high, d.denied)
		}
	}
}

func (c *client) watch(where string) {
	if c.trace == nil || c.bank.leak == nil {
		return
	}
	if c.bank.leak.law.(*leak).dead && !c.wasDead {
		fmt.Println("   DEATH at", where, c.w.now)
		c.bank.dumpLeak()
	}
	c.wasDead = c.bank.leak.law.(*leak).dead
}

func init() {
	debugRelent = func(b *Bank) {
		if b.leak.dump {
			b.dumpLeak()
		}
	}
}

func envInt(name string, def int) int {
	n := def
	fmt.Sscan(os.Getenv(name), &n)
	return n
}

func init() { forceShare = os.Getenv("FORCE") != "" }
