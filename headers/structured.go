package headers

import (
	"strings"
	"time"
)

// The structured fields RateLimit and RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers: a list of named items from
// draft 08 on, a dictionary in draft 07; the policies of drafts 03 to 07 are bare numbers. Their lines are read one by one, so
// that a broken line spoils no other.

// limits adds the items of RateLimit lists to the report, and returns what the dictionary of draft 07 says.
func (rd *reading) limits() (told Quota) {
	for _, line := range rd.lines(slotRateLimit) {
		list, dict := sfv{rest: trim(line), quoted: true}, sfv{rest: trim(line), dict: true}
		switch {
		case list.wellFormed():
			rd.limitItems(list)
		case dict.wellFormed():
			rd.limitMembers(dict, &told)
		}
	}
	return told
}

// limitItems reads "name";r=5;t=30, perhaps with q, w, qu and pk as a policy has them.
func (rd *reading) limitItems(list sfv) {
	for list.next() {
		it := rd.itemOf(list.item)
		if !it.named {
			continue
		}
		if q := rd.report.entry(it.Unit, it.Name, it.Partition, it.Window); q != nil {
			q.merge(&it.Quota)
		}
	}
}

// limitMembers reads limit=100, remaining=50, reset=5.
func (rd *reading) limitMembers(dict sfv, told *Quota) {
	for dict.next() {
		v := dict.item.value
		switch dict.key {
		case "limit":
			lowerBy(&told.Limit, v)
		case "remaining":
			lowerBy(&told.Remaining, v)
		case "reset":
			rd.delayByItem(told, v)
		}
	}
}

// item is a member of a structured list.
type item struct {
	Quota
	named bool
	// alias is the item's first name where it has a second: Hugging Face sends "fixed window";"api";q=500, and in RateLimit
	// "api". The last name tells its quotas apart, the first tells how they are counted.
	alias string
}

// itemOf reads a member. A parameter whose value is forbidden is left out, alone.
func (rd *reading) itemOf(s sfvItem) item {
	it := item{Quota: Quota{Unit: requests}}
	if k := s.value.kind; k == sfvString || k == sfvToken {
		it.named, it.Name = true, s.value.plain()
	}
	for p := s.parameters(); p.next(); {
		switch p.key {
		case "":
			it.alias, it.Name = it.Name, p.value.plain()
		case "name":
			if !it.named { // Envoy: 10;w=1;name="per-ip"
				it.Name = p.value.plain()
			}
		case "q":
			it.Limit = countBy(p.value)
		case "r":
			it.Remaining = countBy(p.value)
		case "t":
			rd.delayByItem(&it.Quota, p.value)
		case "w", "window":
			it.Window = spanBy(p.value)
		case "qu":
			if unit := p.value.plain(); unit != "" {
				it.Unit = unit
			}
		case "pk":
			it.Partition = p.value.text
		}
	}
	return it
}

// plain is the text of a string or token with its escapes undone, "" for any other kind.
func (v sfvValue) plain() string {
	if v.kind != sfvString && v.kind != sfvToken {
		return ""
	}
	if strings.IndexByte(v.text, '\\') < 0 {
		return v.text
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(v.text)
}

// countBy is a non-negative integer, the only kind of number the draft allows.
func countBy(v sfvValue) Maybe[float64] {
	if v.kind != sfvInteger {
		return Maybe[float64]{}
	}
	return maybe(number(v.text))
}

func lowerBy(m *Maybe[float64], v sfvValue) {
	if n := countBy(v); n.Known {
		lower(m, n.Value)
	}
}

// delayByItem moves q's reset to a whole number of seconds from now, or to a moment where the number is too large for that.
func (rd *reading) delayByItem(q *Quota, v sfvValue) {
	n, ok := parseDecimal(v.text)
	if !ok || v.kind != sfvInteger {
		return
	}
	if d, grain, ok := rd.numericReset(n); ok {
		q.delay(d, grain)
	}
}

// spanBy is a window in seconds. One of no length means nothing.
func spanBy(v sfvValue) Maybe[time.Duration] {
	if v.kind != sfvInteger {
		return Maybe[time.Duration]{}
	}
	return spanOf(v.text, time.Second)
}

// spanOf is a window of s units.
func spanOf(s string, unit time.Duration) Maybe[time.Duration] {
	n, ok := parseDecimal(s)
	if !ok {
		return Maybe[time.Duration]{}
	}
	d, ok := n.times(unit)
	return maybe(d, ok && d > 0)
}
