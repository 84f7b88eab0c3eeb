package headers

import (
	"encoding/json"
	"strings"
	"time"
)

// shape is a way to write a whole quota, or several, into one value.
type shape uint8

const (
	noShape         shape = iota
	shapeShopify          // 32/40: used of the limit
	shapeSalesforce       // api-usage=25/5000; per-app-api-usage=17/250(appName=x)
	shapeAzure            // Microsoft.Compute/HighCostGet3Min;159,Microsoft.Compute/HighCostGet30Min;1200
	shapeStrava           // 600,30000: per quarter of an hour, per day
	shapeRiot             // 20:1,100:120: number in seconds
	shapeMeta             // {"call_count":28,"total_cputime":10}: percent
	shapeBasecamp         // {"name":"API","period":10,"limit":50,"remaining":0,"until":"2016-01-01T12:00:20Z"}
)

// vendorValue reads the values of a shape. It is a switch and not a table of functions, because a call through a variable
// would move every reading to the heap.
func (rd *reading) vendorValue(s shape) {
	switch s {
	case shapeShopify:
		for _, line := range usable(rd.h["X-Shopify-Shop-Api-Call-Limit"]) {
			rd.addShare("", line)
		}
	case shapeSalesforce:
		rd.salesforce()
	case shapeAzure:
		rd.azure()
	case shapeStrava:
		rd.strava("", "X-Ratelimit-Limit", "X-Ratelimit-Usage")
		rd.strava("read", "X-Readratelimit-Limit", "X-Readratelimit-Usage")
	case shapeRiot:
		rd.riot("app", "X-App-Rate-Limit", "X-App-Rate-Limit-Count")
		rd.riot("method", "X-Method-Rate-Limit", "X-Method-Rate-Limit-Count")
	case shapeMeta:
		rd.meta()
	case shapeBasecamp:
		rd.basecamp()
	}
}

// line is the first line of a header.
func (rd *reading) line(name string) string {
	for _, line := range usable(rd.h[name]) {
		return trim(line)
	}
	return ""
}

// addShare adds a quota of requests written as used/limit.
func (rd *reading) addShare(name, text string) {
	usedText, limitText, _ := strings.Cut(text, "/")
	used, ok := number(trim(usedText))
	limit, ok2 := number(trim(limitText))
	if ok && ok2 {
		rd.complement(Quota{Unit: requests, Name: name, Limit: Some(limit), Remaining: Some(max(limit-used, 0))})
	}
}

func (rd *reading) salesforce() {
	for _, line := range usable(rd.h["Sforce-Limit-Info"]) {
		for part := range strings.SplitSeq(line, ";") {
			name, share, _ := strings.Cut(part, "=")
			share, _, _ = strings.Cut(share, "(")
			rd.addShare(trim(name), share)
		}
	}
}

func (rd *reading) azure() {
	for _, line := range usable(rd.h["X-Ms-Ratelimit-Remaining-Resource"]) {
		for part := range strings.SplitSeq(line, ",") {
			name, left, _ := strings.Cut(part, ";")
			if n, ok := number(trim(left)); ok {
				rd.report.Add(Quota{Name: trim(name), Remaining: Some(n)})
			}
		}
	}
}

// zendesk reads total=100; remaining=99; resets=41 of an endpoint.
func (rd *reading) zendesk(name string, lines []string) {
	for _, line := range lines {
		q := Quota{Name: strings.ToLower(name)}
		for part := range strings.SplitSeq(line, ";") {
			key, value, _ := strings.Cut(part, "=")
			switch trim(key) {
			case "total":
				q.Limit = maybe(countOf(value))
			case "remaining":
				q.Remaining = maybe(countOf(value))
			case "resets":
				rd.delayByText(&q, value)
			}
		}
		rd.report.Add(q)
	}
}

// strava reads a pair of lists: the limits of a quarter of an hour and of a day, and how much of each is used.
func (rd *reading) strava(name, limits, usages string) {
	quarter, daily, ok := rd.twoOf(limits)
	quarterUsed, dailyUsed, ok2 := rd.twoOf(usages)
	if !ok || !ok2 {
		return
	}
	rd.addUsage(name, quarter, quarterUsed, 15*time.Minute)
	rd.addUsage(name, daily, dailyUsed, day)
}

// twoOf are the parts of the first line that has two.
func (rd *reading) twoOf(header string) (first, second string, ok bool) {
	for _, line := range usable(rd.h[header]) {
		if first, second, ok = strings.Cut(line, ","); ok {
			return first, second, true
		}
	}
	return "", "", false
}

func (rd *reading) addUsage(name, limitText, usedText string, window time.Duration) {
	limit, ok := number(trim(limitText))
	if !ok {
		return
	}
	q := Quota{Unit: requests, Name: name, Limit: Some(limit), Window: Some(window)}
	if used, ok := number(trim(usedText)); ok {
		q.Remaining = Some(max(limit-used, 0))
	}
	rd.complement(q)
}

// riot reads a list of limit:seconds and one of used:seconds.
func (rd *reading) riot(name, limits, counts string) {
	used := rd.line(counts)
	n := 0
	for part := range strings.SplitSeq(rd.line(limits), ",") {
		limit, seconds, _ := strings.Cut(trim(part), ":")
		if w := spanOf(seconds, time.Second); w.Known && n < maxQuotas {
			rd.addUsage(name, limit, riotUsed(used, seconds), w.Value)
			n++
		}
	}
}

func riotUsed(counts, seconds string) string {
	for part := range strings.SplitSeq(counts, ",") {
		if n, s, _ := strings.Cut(trim(part), ":"); s == seconds {
			return n
		}
	}
	return ""
}

// metaUsage is how much of a quota is used, in percent of several measures of which the fullest counts.
type metaUsage struct {
	Type    string  `json:"type"`
	Calls   float64 `json:"call_count"`
	CPU     float64 `json:"total_cputime"`
	Time    float64 `json:"total_time"`
	Account float64 `json:"acc_id_util_pct"`
	// Regain is in minutes, Reset in seconds.
	Regain *float64 `json:"estimated_time_to_regain_access"`
	Reset  *float64 `json:"reset_time_duration"`
}

func (rd *reading) meta() {
	for _, of := range [...]struct{ name, header string }{
		{"app", "X-App-Usage"}, {"page", "X-Page-Usage"}, {"ad-account", "X-Ad-Account-Usage"},
	} {
		var u metaUsage
		if json.Unmarshal([]byte(rd.line(of.header)), &u) == nil {
			rd.addMeta(of.name, u)
		}
	}
	var business map[string][]metaUsage
	if json.Unmarshal([]byte(rd.line("X-Business-Use-Case-Usage")), &business) != nil {
		return
	}
	for id, usages := range business {
		for _, u := range usages {
			rd.addMeta(id+"/"+u.Type, u)
		}
	}
}

func (rd *reading) addMeta(name string, u metaUsage) {
	used := max(u.Calls, u.CPU, u.Time, u.Account, 0)
	q := Quota{Unit: "percent", Name: name, Limit: Some(100.0), Remaining: Some(max(100-used, 0))}
	q.delayJSON(u.Regain, time.Minute)
	q.delayJSON(u.Reset, time.Second)
	rd.report.Add(q)
}

// delayJSON moves q's reset to n units from now, if JSON told n.
func (q *Quota) delayJSON(n *float64, unit time.Duration) {
	if n == nil {
		return
	}
	if d := spanOfFloat(*n, unit); d.Known {
		q.delay(d.Value, unit)
	}
}

// spanOfFloat is a length of n units that JSON told.
func spanOfFloat(n float64, unit time.Duration) Maybe[time.Duration] {
	ns := n * float64(unit)
	return maybe(time.Duration(ns), 0 <= ns && ns <= float64(longest))
}

func (rd *reading) basecamp() {
	var v struct {
		Name                     string
		Period, Limit, Remaining *float64
		Until                    string
	}
	if json.Unmarshal([]byte(rd.line("X-Ratelimit")), &v) != nil {
		return
	}
	q := Quota{Name: v.Name, Limit: countOfFloat(v.Limit), Remaining: countOfFloat(v.Remaining)}
	if v.Period != nil && *v.Period > 0 {
		q.Window = spanOfFloat(*v.Period, time.Second)
	}
	rd.delayByText(&q, v.Until)
	rd.report.Add(q)
}

// countOfFloat is a count that JSON told.
func countOfFloat(n *float64) Maybe[float64] {
	if n == nil || *n < 0 {
		return Maybe[float64]{}
	}
	return Some(*n)
}
