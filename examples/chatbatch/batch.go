package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/job"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
	"github.com/seed-18ca0a92/throttle/llm"
)

// day is what -rpd counts over: the last 24 hours, whatever the clock says, so that it holds for services that reset at any hour.
const day = 24 * time.Hour

// batch is one run over one input.
type batch struct {
	settings *settings
	world    world
	target   *target
	clean    *job.Cleaner
	in       *input
	out      *results.Output
	plan     plan
	census   *census
	guess    *llm.Estimator
	tally    *job.Tally
	client   *client
	brake    *job.Brake

	page      *os.File // of -report; may be nil
	pageIsNew bool     // it was not there before this run
	early     *feed    // of a pipe: its first task is known before anything is created

	least func(*batch) time.Duration // the least time that the job could take; zero = unknown
	known float64                    // the server's limit in requests a second, where it is known otherwise; 0 = it is not
}

// prepare checks everything that can be checked before the first request. Nothing is created or changed yet.
func prepare(s *settings, w world) (b *batch, err error) {
	b = &batch{settings: s, world: w, guess: llm.NewEstimator(), least: (*batch).leastByLimits}
	if err := b.openTarget(); err != nil {
		return nil, err
	}
	if b.in, err = openInput(s, w); err != nil {
		return nil, err
	}
	for _, step := range []func() error{b.checkPlaces, b.openOutput, b.check} {
		if err := step(); err != nil {
			b.close()
			return nil, err
		}
	}
	return b, nil
}

// openTarget reads -url and the key. A dry run needs neither, but a wrong address is told there too.
func (b *batch) openTarget() (err error) {
	s := b.settings
	if s.dryRun {
		if s.url != "" {
			_, err = baseOf(s)
		}
		return err
	}
	if b.target, err = newTarget(s, b.world.env); err != nil {
		return err
	}
	b.clean = job.NewCleaner(b.target.secret)
	return nil
}

// openOutput opens -o, or standard output.
func (b *batch) openOutput() (err error) {
	s := b.settings
	switch {
	case s.demo():
		b.out = results.To(io.Discard)
		return nil
	case s.output == "":
		b.out = results.To(b.world.stdout)
		return nil
	}
	b.out, err = results.Open(s.output, time.Now().Add(-day), s.overwrite)
	if errors.Is(err, results.ErrNotResults) {
		err = fmt.Errorf("%w; choose another -o, or move that file away", err)
	}
	return err
}

// check goes through the whole input ahead of the job, where that is possible; of a pipe as far as its first request, before which it may still be refused
// as a whole.
func (b *batch) check() error {
	pipe := !b.in.whole() && !b.settings.dryRun
	if pipe && b.settings.strict {
		return errors.New("-strict needs a file: a pipe cannot be checked before its first request is sent")
	}
	b.plan = plan{earlier: b.out.Earlier(), retryFailed: b.settings.retryFailed}
	b.census = b.newCensus()
	f, err := b.feed(b.census, b.world.stderr)
	switch {
	case err != nil:
	case pipe:
		b.early, err = f, f.peek()
	default:
		err = f.drain()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b.in.name, err)
	}
	if !pipe {
		b.warnOfLimits()
	}
	if b.settings.strict && b.census.rejected > 0 {
		return fmt.Errorf("%s: %d bad lines, and -strict refuses them: nothing was sent", b.in.name, b.census.rejected)
	}
	return nil
}

func (b *batch) newCensus() *census {
	c := newCensus()
	c.unmet = b.settings.limitedModels()
	if b.settings.ordered && b.out.IsFile() {
		c.order = batchfile.NewIDs[int]()
	}
	return c
}

// feed begins at the first line.
func (b *batch) feed(c *census, rejects io.Writer) (*feed, error) {
	in, err := b.in.reader()
	if err != nil {
		return nil, err
	}
	return &feed{in: in, name: b.in.name, plan: b.plan, census: c, rejects: rejects, guess: b.guess}, nil
}

func (b *batch) close() {
	if b.in != nil {
		b.in.close()
	}
	if b.client != nil {
		b.client.close()
	}
	if b.out != nil {
		_ = b.out.Close() // after a run this was done before, and its error told
	}
}

// run sends what there is to send.
func (b *batch) run(ctx context.Context) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.tally = job.NewTally()
	b.brake = job.NewBrake(context.WithoutCancel(ctx), b.settings.grace)
	defer b.brake.Release()
	f, err := b.begin(ctx)
	if err != nil {
		return refuse(b.world.stderr, err)
	}
	b.watch(ctx)
	err = b.work(f)
	return b.finish(f, err)
}

// begin makes the client and the output ready.
func (b *batch) begin(ctx context.Context) (f *feed, err error) {
	if b.world.network == nil {
		if err := b.target.reach(ctx); err != nil {
			return nil, err
		}
	}
	if b.client, err = newClient(ctx, b); err != nil {
		return nil, err
	}
	if err = b.client.book(ctx, b.settings, b.plan.earlier.Attempts); err != nil {
		return nil, err
	}
	if f = b.early; f == nil {
		// What was checked already is counted again in a census of its own, whose bad lines were named before.
		if f, err = b.feed(newCensus(), io.Discard); err != nil {
			return nil, fmt.Errorf("%s: %w", b.in.name, err)
		}
	}
	return f, b.beginOutput()
}

// beginOutput creates and changes files, as the last step before the first request.
func (b *batch) beginOutput() error {
	if err := b.openReport(); err != nil {
		return err
	}
	err := b.out.Begin()
	if err != nil {
		b.dropReport()
	}
	return err
}

// work is the job itself.
func (b *batch) work(f *feed) error {
	sink, flush := b.sink()
	j := &job.Job{
		Client: b.client, Target: b.target.url, Header: b.target.header, Clean: b.clean,
		Sink: sink, Tally: b.tally, Brake: b.brake, Estimator: b.guess,
		Workers: b.settings.workers, Ahead: b.ahead(), MaxAttempts: b.settings.maxAttempts, BodyTimeout: b.settings.timeout,
	}
	if b.settings.maxTokens > 0 {
		j.Spend = job.NewSpend(b.settings.maxTokens, b.plan.earlier.Tokens)
	}
	show := b.newProgress()
	j.Run(cloning{f})
	f.close()
	show.end()
	err := flush()
	if err := b.out.Tidy(b.census.rank()); err != nil {
		fmt.Fprintf(b.world.stderr, "chatbatch: %s stays as it was written (%v): of several lines of one id the last counts\n", b.settings.output, err)
	}
	return errors.Join(err, b.out.Close())
}

// fileAhead is how many requests of a file may be read ahead: enough to find another model behind some thousands of requests of one that waits.
const fileAhead = 4096

// ahead keeps a pipe from being emptied into the memory, and with it whoever writes it from being told to wait.
func (b *batch) ahead() int {
	if b.in.whole() {
		return fileAhead
	}
	return b.settings.workers
}

// windowPerWorker is how far results may be ahead of the slowest request with -ordered into a stream, for each worker. It bounds the memory.
const windowPerWorker = 4

// sink is where results go: as they come into a file, which is put in order at the end, so that a kill loses nothing that was paid for.
func (b *batch) sink() (s job.Sink, flush func() error) {
	if !b.settings.ordered || b.out.IsFile() {
		return results.Unordered{Out: b.out}, func() error { return nil }
	}
	o := results.NewOrder(b.out, windowPerWorker*b.settings.workers)
	return o, o.Flush
}

// finish tells how it went.
func (b *batch) finish(f *feed, err error) int {
	if err != nil && b.brake.Stop().Kind == job.NotStopped {
		b.brake.Pull(job.Stop{Kind: job.NoOutput, Text: err.Error()})
	}
	b.census = f.census
	if f == b.early && b.brake.Stop().Kind == job.NotStopped {
		b.warnOfLimits() // of a pipe nobody could tell before
	}
	code := b.exitCode()
	if !b.settings.quiet || code != exitDone {
		b.summary(b.world.stderr)
	}
	if err := b.writeReport(); err != nil {
		fmt.Fprintf(b.world.stderr, "chatbatch: the report cannot be written: %v\n", err)
	}
	return code
}

func (b *batch) exitCode() int {
	t, stop := b.tally.Totals(), b.brake.Stop()
	switch {
	case stop.Kind == job.Interrupted:
		return exitInterrupted
	case stop.Kind != job.NotStopped:
		return exitStopped
	case t.Failed > 0 || b.census.rejected > 0 || b.census.failed > 0:
		return exitSomeFailed
	}
	return exitDone
}
