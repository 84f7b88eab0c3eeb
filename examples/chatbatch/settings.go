package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/batchfile"
	"github.com/seed-18ca0a92/throttle/examples/chatbatch/internal/results"
)

const (
	// defaultWorkers suits limits of some hundred requests a minute at answers of some seconds: 500 a minute at 7 s need 58 at once.
	defaultWorkers = 64
	// defaultTimeout bounds one attempt: long answers of slow models take minutes.
	defaultTimeout = 10 * time.Minute
	// defaultGrace is how long calls under way may go on after Ctrl-C.
	defaultGrace = 30 * time.Second
	// defaultKeyEnv is where the key of an OpenAI-compatible service is kept by custom.
	defaultKeyEnv = "OPENAI_API_KEY"
)

// settings is what the flags say.
type settings struct {
	input, output, url string
	redis              string
	keyEnv, keyHeader  string
	given              map[string]bool // the flags that were named
	format             batchfile.Format
	maxLine            int

	rpm, tpm, rpd float64
	limits        limitFlags
	workers       int
	maxAttempts   int
	maxWait       time.Duration
	deadline      time.Duration
	over          <-chan time.Time // when the deadline is; nil = never
	timeout       time.Duration
	grace         time.Duration
	maxTokens     int64

	dryRun, strict, ordered, overwrite, retryFailed, quiet bool
	report                                                 string
	isDemo                                                 bool
}

// demo is a run without anything to do: it brings its own input and server.
func (s *settings) demo() bool { return s.isDemo }

// parseFlags reads the command line. flag.ErrHelp means that help was asked for and written to out.
func parseFlags(args []string, out io.Writer) (*settings, error) {
	s := &settings{given: map[string]bool{}}
	fs := flag.NewFlagSet("chatbatch", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	s.register(fs)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			help(fs, out)
		}
		return nil, err
	}
	fs.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	if err := s.takeArgs(fs.Args()); err != nil {
		return nil, err
	}
	if s.output == "-" {
		s.output = ""
	}
	s.isDemo = s.input == "" && s.url == "" && !s.dryRun
	return s, s.check()
}

func (s *settings) register(fs *flag.FlagSet) {
	fs.StringVar(&s.input, "i", "", "`FILE` of requests, - for standard input")
	fs.StringVar(&s.output, "o", "", "`FILE` for results; an earlier run's is continued (default, and -: standard output, which cannot be)")
	fs.StringVar(&s.url, "url", "", "`BASE` of the API, such as https://api.openai.com/v1; the only place that requests go to")
	fs.StringVar(&s.keyEnv, "key-env", defaultKeyEnv, "environment `VARIABLE` that holds the API key; empty = no key")
	fs.StringVar(&s.keyHeader, "key-header", "Authorization", "`HEADER` that carries the key; api-key for Azure OpenAI's deployments")
	fs.Func("format", "`KIND` of input: openai-batch or cookbook (default: as the first line shows)", func(v string) (err error) {
		s.format, err = batchfile.ParseFormat(v)
		return err
	})
	fs.IntVar(&s.maxLine, "max-line", batchfile.MaxLine, "longest line of the input, in `BYTES`; longer ones are bad lines")
	fs.Float64Var(&s.rpm, "rpm", 0, "requests a minute, for each model (default: what the server's headers say)")
	fs.Float64Var(&s.tpm, "tpm", 0, "tokens a minute, for each model")
	fs.Float64Var(&s.rpd, "rpd", 0, "requests a day, for each model; those of earlier runs in -o count")
	fs.Var(&s.limits, "limit", "further `LIMIT` such as \"10/second burst 20\", or \"model=500/minute\" for one model; may be repeated")
	fs.StringVar(&s.redis, "redis", "", "`URL` such as redis://localhost:6379/0: all runs that name it share the limits above")
	fs.IntVar(&s.workers, "concurrency", defaultWorkers, "requests at once")
	fs.IntVar(&s.maxAttempts, "max-attempts", 0, "attempts for each request, the first included; 1 = no retry (default: 10 for refusals, 4 for failures)")
	fs.DurationVar(&s.maxWait, "max-wait", 0, "longest wait of one request in all (default: none)")
	fs.DurationVar(&s.deadline, "deadline", 0, "stop the job after this time (default: none)")
	fs.DurationVar(&s.timeout, "timeout", defaultTimeout, "longest time of one attempt until its answer begins, and again until it ends")
	fs.DurationVar(&s.grace, "grace", defaultGrace, "how long requests under way may go on after a stop")
	fs.Int64Var(&s.maxTokens, "max-tokens-total", 0, "stop before the job, earlier runs in -o included, uses more tokens (default: no cap)")
	s.registerSwitches(fs)
}

func (s *settings) registerSwitches(fs *flag.FlagSet) {
	fs.BoolVar(&s.dryRun, "n", false, "check the input and estimate, send nothing")
	fs.BoolVar(&s.strict, "strict", false, "refuse the whole file if any line is bad")
	fs.BoolVar(&s.ordered, "ordered", false, "results in the order of the input, in a file at the end of the run (default: as they come)")
	fs.BoolVar(&s.overwrite, "overwrite", false, "start anew although -o has results; a file of anything else is never overwritten")
	fs.BoolVar(&s.retryFailed, "retry-failed", false, "send again what was refused for good by an earlier run")
	fs.BoolVar(&s.quiet, "q", false, "no progress; only bad lines, errors and the summary of an unfinished job")
	fs.StringVar(&s.report, "report", "", "`FILE`.html for a page with charts of the run")
}

// takeArgs accepts the input as an argument, as other filters do.
func (s *settings) takeArgs(args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(args) == 1 && s.input == "":
		s.input = args[0]
		return nil
	}
	return fmt.Errorf("%q is one argument too many: flags come first, and there is one input", args[len(args)-1])
}

func (s *settings) check() error {
	for _, c := range []struct {
		bad  bool
		text string
	}{
		{!s.isRate("rpm", s.rpm), "-rpm must be a positive number; without it the server's headers decide"},
		{!s.isRate("tpm", s.tpm), "-tpm must be a positive number; without it the server's headers decide"},
		{!s.isRate("rpd", s.rpd), "-rpd must be a positive number; without it the server's headers decide"},
		{s.maxLine < 1 || s.maxLine > results.MaxEcho, fmt.Sprintf("-max-line must be between 1 and %d", results.MaxEcho)},
		{!isHeaderName(s.keyHeader), "-key-header must be the name of a header, and none of those that the request itself needs"},
		{s.report == "-", "-report needs the name of a file"},
		{s.workers < 1, "-concurrency must be at least 1"},
		{s.given["max-attempts"] && s.maxAttempts < 1, "-max-attempts must be at least 1, which is no retry"},
		{s.maxWait < 0 || s.deadline < 0 || s.grace < 0, "-max-wait, -deadline and -grace must not be negative"},
		{s.timeout <= 0, "-timeout must be positive"},
		{s.given["max-tokens-total"] && s.maxTokens < 1, "-max-tokens-total must be positive; without it there is no cap"},
		{s.input == "" && s.url != "", "-url without -i: say which requests to send"},
		{s.input != "" && s.url == "" && !s.dryRun, "-i without -url: say where to send the requests (or -n to check them only)"},
		{s.input == "" && s.dryRun, "-n without -i: say which requests to check"},
		{s.redis != "" && !s.limited(), "-redis without a limit: say what is shared, with -rpm, -tpm, -rpd or -limit"},
		{s.overwrite && s.retryFailed, "-overwrite and -retry-failed exclude each other"},
	} {
		if c.bad {
			return errors.New(c.text)
		}
	}
	return nil
}

func (s *settings) overText() string { return fmt.Sprintf("the deadline of %v is over", s.deadline) }

// isHeaderName tells the names that can carry a key: tokens (RFC 9110, section 5.6.2), but not those that Go's client writes itself or that chatbatch
// sets.
func isHeaderName(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "", "Host", "Content-Length", "Transfer-Encoding", "Trailer", "Connection", "Content-Type", "Accept", "Accept-Encoding", "User-Agent":
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	})
}

// isRate accepts the zero of a flag that was not named: no limit. To whoever writes it, it would rather be a limit that lets nothing through.
func (s *settings) isRate(flag string, n float64) bool {
	return !s.given[flag] || n > 0 && !math.IsInf(n, 0)
}

// help writes the manual.
func help(fs *flag.FlagSet, out io.Writer) {
	fmt.Fprint(out, manual)
	fs.VisitAll(func(f *flag.Flag) {
		name, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(out, "  %-22s %s%s\n", strings.TrimSpace("-"+f.Name+" "+name), usage, shownDefault(f))
	})
	fmt.Fprint(out, manualEnd)
}

func shownDefault(f *flag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false":
		return ""
	}
	return " (default " + f.DefValue + ")"
}

const manual = `chatbatch sends a file of chat requests at the full speed that a quota allows.

  chatbatch                                             demonstration with a server of its own
  chatbatch -i requests.jsonl -url BASE -o results.jsonl
  generate | chatbatch -url BASE - | jq .

`

const manualEnd = `
Input: OpenAI Batch lines {"custom_id": ..., "body": {...}}, or bare chat bodies as the OpenAI cookbook has them, whose
metadata is kept out of the request and echoed. Bad lines are named on standard error; the rest is sent.
Output: OpenAI Batch result lines, one for each request; attempts, waits and times stand beside. A line that repeats an id has no result of
its own. After a kill an id may have two lines, of which the last counts, until the next run ends. Start the same command again to continue: answers and lasting refusals are kept, everything else is sent.
Exit: 0 all answered, 1 some lines rejected or failed, 2 flags or file refused, 3 stopped early, 130 interrupted.
`
