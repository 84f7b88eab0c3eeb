package redisbudget

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed-18ca0a92/throttle/budget"
)

// describe writes policies as the script reads them: algorithm, unit, limit, window, burst and phase of each.
func describe(policies []budget.Policy) string {
	var all strings.Builder
	for _, p := range policies {
		words := []string{p.Algorithm.String(), url.QueryEscape(p.Unit), amount(p.Limit), micros(p.Window), amount(p.Burst), micros(phase(p))}
		all.WriteString(strings.Join(words, " ") + ";")
	}
	return all.String()
}

// phase is how long after the Unix epoch the first window begins.
func phase(p budget.Policy) time.Duration {
	if p.Anchor.IsZero() {
		return 0
	}
	since := p.Anchor.Sub(time.Unix(0, 0))
	return since - since.Truncate(p.Window)
}

// readable is what describe wrote as people write policies; as it is, if it is something else.
func readable(declared string) string {
	var all []string
	for text := range strings.SplitSeq(strings.TrimSuffix(declared, ";"), ";") {
		p, ok := read(strings.Fields(text))
		if !ok {
			return declared
		}
		all = append(all, p.String())
	}
	return strings.Join(all, ", ")
}

// read is a policy by the words of describe.
func read(words []string) (p budget.Policy, ok bool) {
	if len(words) != 6 {
		return p, false
	}
	kind, err := budget.ParseAlgorithm(words[0])
	unit, badUnit := url.QueryUnescape(words[1])
	var numbers [4]float64 // limit, window, burst and phase
	for i, word := range words[2:] {
		n, bad := strconv.ParseFloat(word, 64)
		if bad != nil {
			return p, false
		}
		numbers[i] = n
	}
	p = budget.Policy{Unit: unit, Limit: numbers[0], Window: time.Duration(numbers[1] * 1e3), Burst: numbers[2], Algorithm: kind}
	if numbers[3] != 0 {
		p.Anchor = time.UnixMicro(int64(numbers[3]))
	}
	return p, err == nil && badUnit == nil
}
