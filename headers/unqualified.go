package headers

import (
	"strings"
	"time"
)

// unqualified puts together what the structured fields, their policies and the three trios say. A server that knows several
// families tells one quota several times; it must not be spent several times.
func (rd *reading) unqualified() {
	r := &rd.report
	first := len(r.Quotas)
	if rd.seen&(1<<slotRateLimit) != 0 {
		r.reserve(4) // two items, and their policies until they are paired
	}
	q := rd.limits()
	items := len(r.Quotas)
	rd.policyLines()
	rd.pair(first, items)
	if !countsRequests(r.Quotas[first:items]) {
		rd.trios(&q)
		rd.join(&q, items)
	}
	rd.settle(first)
	r.Add(q)
	if rd.seen&(1<<slotEndpointName) != 0 {
		rd.nameEndpoint()
	}
}

// countsRequests reports whether a structured item stands for the requests that a trio would count.
func countsRequests(items []Quota) bool {
	for i := range items {
		if items[i].Unit == requests {
			return true
		}
	}
	return false
}

// settle takes the entries from first on out of the report and adds them again, which drops those that say nothing and folds
// those that have become the same. Each is read before its place can be written to.
func (rd *reading) settle(first int) {
	r := &rd.report
	entries := r.Quotas[first:]
	r.Quotas = r.Quotas[:first]
	for _, q := range entries {
		r.Add(q)
	}
}

// trios completes q from the unqualified headers: an earlier family is believed, a later one only fills what is missing.
func (rd *reading) trios(q *Quota) {
	q.Unit = requests
	for f := range families {
		if rd.seen>>f&ofFamily == 0 {
			continue
		}
		var told Quota
		if rd.delayBy(&told, rd.lines(slotResetAfter+f)); !told.Reset.Known {
			rd.delayBy(&told, rd.lines(slotReset+f))
		}
		told.Limit = rd.limit(rd.lines(slotLimit + f))
		told.Remaining = leastCount(rd.lines(slotRemaining + f))
		q.fill(&told)
	}
	rd.complete(q)
}

// complete adds what the headers beside a trio say.
func (rd *reading) complete(q *Quota) {
	if !q.Limit.Known {
		q.Limit = leastCount(rd.lines(slotBurst)) // Spring Cloud Gateway
	}
	if used := leastCount(rd.lines(slotUsed)); used.Known && q.Remaining.Known && !q.Limit.Known {
		q.Limit = Some(used.Value + q.Remaining.Value) // Reddit
	}
	for _, line := range rd.lines(slotPeriod) {
		if w := spanText(trim(line)); w.Known && !q.Window.Known {
			q.Window = w
		}
	}
	for s := slotBucket; s <= slotIETFName && q.Name == ""; s++ {
		for _, line := range rd.lines(s) {
			q.Name = trim(line)
		}
	}
}

// spanText is a window in seconds or with its units.
func spanText(s string) Maybe[time.Duration] {
	if w := spanOf(s, time.Second); w.Known {
		return w
	}
	d, _, ok := parseDuration(s)
	return maybe(d, ok && d > 0)
}

// limit reads a limit header: the smallest number, one that stands alone before one that describes a policy. Policies told on
// the way ("10, 10;w=1, 1000;w=3600", drafts 00 to 02 and Envoy) are appended to the report.
func (rd *reading) limit(lines []string) Maybe[float64] {
	var bare, described Maybe[float64]
	for _, line := range lines {
		line = trim(line)
		n, ok := countOf(line)
		switch {
		case ok && strings.IndexByte(firstItem(line), ';') >= 0:
			lower(&described, n)
		case ok:
			lower(&bare, n)
		}
		if strings.IndexByte(line, ';') < 0 {
			continue
		}
		if p := (sfv{rest: line}); p.wellFormed() {
			rd.policies(p)
		}
	}
	if bare.Known {
		return bare
	}
	return described
}

func firstItem(line string) string {
	item, _, _ := strings.Cut(line, ",")
	return item
}

// nameEndpoint puts Linear's X-RateLimit-Endpoint-Name in the place of the word "endpoint" in the names of its quotas.
func (rd *reading) nameEndpoint() {
	name := ""
	for _, line := range rd.lines(slotEndpointName) {
		name = trim(line)
	}
	if name == "" || name == "endpoint" {
		return
	}
	r := &rd.report
	for i := len(r.Quotas) - 1; i >= 0; i-- {
		if q := r.Quotas[i]; q.Name == "endpoint" {
			r.remove(i)
			q.Name = name
			r.Add(q)
		}
	}
}
