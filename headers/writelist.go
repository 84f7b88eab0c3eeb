package headers

import "strings"

// trio writes RateLimit-Limit and so on (drafts 03 to 06), and the windows as policies.
func (w *writer) trio(q []Quota) {
	i := firstRequests(q)
	if i < 0 {
		return
	}
	w.set("Ratelimit-Limit", whole(q[i].Limit))
	w.set("Ratelimit-Remaining", whole(q[i].Remaining))
	w.set("Ratelimit-Reset", w.reset(q[i].Reset, resetSeconds))
	w.numberedPolicies(q, i)
}

// dict writes RateLimit: limit=, remaining=, reset= (draft 07), and the windows as policies.
func (w *writer) dict(q []Quota) {
	i := firstRequests(q)
	if i < 0 {
		return
	}
	var members []string
	for _, m := range [...]struct{ key, value string }{
		{"limit", whole(q[i].Limit)},
		{"remaining", whole(q[i].Remaining)},
		{"reset", w.reset(q[i].Reset, resetSeconds)},
	} {
		if m.value != "" {
			members = append(members, m.key+"="+m.value)
		}
	}
	w.set("Ratelimit", strings.Join(members, ", "))
	w.numberedPolicies(q, i)
}

// numberedPolicies writes RateLimit-Policy: 100;w=60 with the quota that the other fields tell first. Of further quotas the
// policy is all that can be told.
func (w *writer) numberedPolicies(q []Quota, first int) {
	var policies []string
	for i := range q {
		limit, window := whole(q[i].Limit), span(q[i].Window)
		if limit == "" || window == "" || q[i].Unit != "" && q[i].Unit != requests {
			continue
		}
		policy := limit + ";w=" + window
		if i != first && q[i].Name != "" {
			policy += ";name=" + quote(q[i].Name)
		}
		policies = append(policies, policy)
	}
	w.set("Ratelimit-Policy", strings.Join(policies, ", "))
	w.set("Ratelimit-Name", q[first].Name)
}

// list writes RateLimit: "name";r=;t= and RateLimit-Policy: "name";q=;w= (draft 08 and later). A quota without a name is called
// "default", because the draft wants one.
func (w *writer) list(q []Quota) {
	var items, policies []string
	for i := range q {
		name := q[i].Name
		if name == "" {
			name = "default"
		}
		name = quote(name)
		if name == "" {
			continue
		}
		key := ""
		if q[i].Partition != "" {
			key = ":" + q[i].Partition + ":"
		}
		if it := parameters("r", whole(q[i].Remaining), "t", w.reset(q[i].Reset, resetSeconds)); it != "" {
			items = append(items, name+it+parameters("pk", key))
		}
		unit := ""
		if q[i].Unit != "" && q[i].Unit != requests {
			unit = quote(q[i].Unit)
		}
		if p := parameters("q", whole(q[i].Limit), "w", span(q[i].Window), "qu", unit); p != "" {
			policies = append(policies, name+p+parameters("pk", key))
		}
	}
	w.set("Ratelimit", strings.Join(items, ", "))
	w.set("Ratelimit-Policy", strings.Join(policies, ", "))
}

// parameters writes ;key=value for the values that are not empty.
func parameters(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.WriteString(";" + pairs[i] + "=" + pairs[i+1])
		}
	}
	return b.String()
}

// quote makes a structured string, "" of what is not printable ASCII.
func quote(s string) string {
	q := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	if _, n := sfvQuoted(q); n != len(q) {
		return ""
	}
	return q
}
