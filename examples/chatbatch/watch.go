package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
)

// watch pulls the brake for whatever comes from outside: a signal, the end of ctx, the job's own deadline. It ends with ctx.
func (b *batch) watch(ctx context.Context) {
	go func() {
		for {
			select {
			case sig := <-b.world.interrupts:
				b.interrupt(sig)
			case <-b.settings.over:
				b.brake.Pull(job.Stop{Kind: job.Deadline, Text: b.settings.overText()})
			case <-ctx.Done():
				b.brake.Pull(job.Stop{Kind: job.Interrupted, Text: "cancelled"})
				return
			}
		}
	}()
}

// interrupt stops with grace, and at once when it comes again.
func (b *batch) interrupt(sig os.Signal) {
	if b.brake.Stop().Kind == job.Interrupted {
		b.brake.Cut()
		return
	}
	fmt.Fprintf(b.world.stderr, "\nchatbatch: %v: requests under way may end (up to %v); once more to stop at once\n", sig, b.settings.grace)
	b.brake.Pull(job.Stop{Kind: job.Interrupted, Text: fmt.Sprintf("%v", sig)})
}
