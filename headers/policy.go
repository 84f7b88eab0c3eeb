package headers

// policyLines appends the policies of RateLimit-Policy lines to the report, each an entry of its own for now.
func (rd *reading) policyLines() {
	for _, line := range rd.lines(slotPolicy) {
		if p := (sfv{rest: trim(line), quoted: true}); p.wellFormed() {
			rd.policies(p)
		}
	}
}

// policies appends the policies of a list: "burst";q=100;w=60, or 100;w=60. A bare number is none.
func (rd *reading) policies(list sfv) {
	for list.next() {
		it := rd.itemOf(list.item)
		if !it.named {
			it.Limit = countBy(list.item.value)
		}
		if !it.named && !(it.Window.Known && it.Limit.Known) {
			continue
		}
		q := rd.report.grow()
		if q == nil {
			return
		}
		*q = it.Quota
		if it.alias != "" {
			rd.aliases = append(rd.aliases, alias{len(rd.report.Quotas) - 1, it.alias})
		}
	}
}

// alias is a second name of the policy at this place of the report.
type alias struct {
	at   int
	name string
}

// join gives q the window and the name of the policy that has its limit. Of two such policies neither is it.
func (rd *reading) join(q *Quota, policies int) {
	if !q.Limit.Known {
		return
	}
	var match *Quota
	for i := policies; i < len(rd.report.Quotas); i++ {
		p := &rd.report.Quotas[i]
		if p.Unit != requests || p.Limit != q.Limit || q.Window.Known && p.Window.Known && p.Window != q.Window {
			continue
		}
		if match != nil && *match != *p {
			return
		}
		match = p
	}
	if match == nil {
		return
	}
	told := *match
	q.fill(&told)
	if q.Name == "" {
		q.Name = told.Name
	}
	for i := policies; i < len(rd.report.Quotas); i++ {
		if p := &rd.report.Quotas[i]; *p == told {
			*p = Quota{}
		}
	}
}

// pair gives each structured item what its policy says: the limit, the window, the unit. Names are not guessed: an item
// without a policy of its name stays alone, and so does a policy.
func (rd *reading) pair(items, policies int) {
	q := rd.report.Quotas
	var spent uint64
	for i := items; i < policies; i++ {
		j := rd.policyFor(&q[i], policies)
		if j < 0 {
			continue
		}
		q[i].fill(&q[j])
		if q[i].Unit == requests {
			q[i].Unit = q[j].Unit
		}
		spent |= 1 << j
	}
	for j := policies; j < len(q); j++ {
		if spent>>j&1 != 0 {
			q[j] = Quota{}
		}
	}
}

// policyFor is the place of the one policy that an item belongs to: of its name, and of its partition if both tell one. It is
// -1 if there is none, or no saying which.
func (rd *reading) policyFor(it *Quota, policies int) int {
	same, other := -1, -1
	for j := policies; j < len(rd.report.Quotas); j++ {
		p := &rd.report.Quotas[j]
		switch {
		case p.Name != it.Name && !rd.alias(j, it.Name):
		case p.Partition == it.Partition:
			same = only(same, j)
		case p.Partition == "" || it.Partition == "":
			other = only(other, j)
		}
	}
	if same != -1 {
		return max(same, -1)
	}
	return max(other, -1)
}

// only is j the first time and ambiguous from then on.
func only(before, j int) int {
	if before == -1 {
		return j
	}
	return -2
}

// alias reports whether the policy at this place has this name as well.
func (rd *reading) alias(at int, name string) bool {
	for _, a := range rd.aliases {
		if a.at == at && a.name == name {
			return true
		}
	}
	return false
}
