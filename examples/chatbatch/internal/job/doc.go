// Package job runs the requests of a batch over an HTTP client: a bounded pool of workers, one result line for each request, an honest count of
// what happened, and a brake that stops everything without losing what was paid for.
//
//	j := &job.Job{Client: client, Target: target, Sink: results.Unordered(out), Tally: job.NewTally(), Brake: brake, Workers: 64}
//	j.Run(ctx, feed)
//	fmt.Println(j.Tally.Totals().Answered)
package job
