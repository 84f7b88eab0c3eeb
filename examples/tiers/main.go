package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-18ca0a92/throttle"
)

//go:embed tiers.json
var builtIn string

func main() {
	file := flag.String("tiers", "", "`file` of tiers; empty = the one built in")
	calls := flag.Int("calls", 100, "calls of each customer to each model")
	flag.Parse()
	if err := run(os.Stdout, *file, *calls); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer, file string, calls int) error {
	p, err := load(file)
	if err != nil {
		return err
	}
	client, err := newClient(p, upstream{})
	if err != nil {
		return err
	}
	return report(w, p, client, calls)
}

func load(file string) (plan, error) {
	if file == "" {
		return readPlan(strings.NewReader(builtIn))
	}
	f, err := os.Open(file)
	if err != nil {
		return plan{}, err
	}
	defer f.Close()
	return readPlan(f)
}

// blink is how long a call may wait for its tier: beyond that it fails at once, since whoever serves customers rather passes that on to
// them. Not zero, since the margin for the network's jitter is a few milliseconds.
const blink = 100 * time.Millisecond

// newClient is a client that keeps every customer within the tier.
func newClient(p plan, base http.RoundTripper) (*http.Client, error) {
	t, err := throttle.NewTransport(base, throttle.WithKey(keyOf), throttle.WithPolicyFunc(p.policiesOf), throttle.WithMaxWait(blink))
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: t}, nil
}

// report lets every customer call every model, one call after the other, and prints what became of the calls.
func report(w io.Writer, p plan, c *http.Client, calls int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "customer\ttier\tmodel\tsent\tbeyond the tier")
	for _, customer := range slices.Sorted(maps.Keys(p.Customers)) {
		for _, model := range p.models() {
			sent, beyond, err := callMany(c, customer, model, calls)
			row := fmt.Sprintf("%d\t%d", sent, beyond)
			if errors.Is(err, errModel) {
				row = "-\tnot in the tier"
			} else if err != nil {
				return err
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", customer, p.Customers[customer], model, row)
		}
	}
	return table.Flush()
}

// models are the models of all tiers, in order.
func (p plan) models() []string {
	all := map[string]bool{}
	for _, t := range p.Tiers {
		for _, m := range t.Models {
			all[m] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// callMany makes n calls, and counts those that were sent and those that the tier did not allow. Any other error ends it.
func callMany(c *http.Client, customer, model string, n int) (sent, beyond int, err error) {
	for range n {
		switch err := call(c, customer, model); {
		case err == nil:
			sent++
		case errors.Is(err, throttle.ErrMaxWait), errors.Is(err, throttle.ErrMaxHold):
			beyond++
		default:
			return sent, beyond, err
		}
	}
	return sent, beyond, nil
}

func call(c *http.Client, customer, model string) error {
	req, err := http.NewRequest(http.MethodPost, "http://models.invalid/v1/"+model+"/complete", nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Customer", customer)
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// upstream stands in for the API: it answers everything.
type upstream struct{}

func (upstream) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}
