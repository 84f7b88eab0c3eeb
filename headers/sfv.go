package headers

import "strings"

// sfv walks the members of one line of a structured field (RFC 9651), a list or a dictionary, without allocating. It is
// strict, as the RFC demands, but for one thing that it accepts if told to, because Hugging Face sends it: a quoted string in the
// place of a parameter. Because the RFC wants a faulty field ignored whole, ask wellFormed before using what next yields.
type sfv struct {
	rest   string
	dict   bool // members are key=value
	quoted bool // a string may stand in the place of a parameter
	begun  bool
	failed bool
	key    string // of the dictionary member
	item   sfvItem
}

// sfvItem is one member: its bare value and its parameters.
type sfvItem struct {
	value  sfvValue
	params string // verbatim, already checked
}

// wellFormed checks a whole line.
func (p sfv) wellFormed() bool {
	for p.next() {
		continue
	}
	return !p.failed
}

// next moves to the next member; false at the end and at a fault.
func (p *sfv) next() bool {
	if !p.begun {
		p.begun = true
		p.rest = strings.Trim(p.rest, " ")
		if p.rest == "" {
			return false
		}
	} else if !p.comma() {
		return false
	}
	if p.dict {
		return p.member()
	}
	return p.value() && p.parameters()
}

// comma crosses to the next member. A trailing comma is a fault.
func (p *sfv) comma() bool {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" {
		return false
	}
	if p.rest[0] != ',' {
		return p.fail()
	}
	p.rest = strings.TrimLeft(p.rest[1:], " \t")
	return p.rest != "" || p.fail()
}

func (p *sfv) fail() bool {
	p.failed = true
	return false
}

// member reads key, key=value or key;parameters of a dictionary.
func (p *sfv) member() bool {
	n := sfvKeyLen(p.rest)
	if n == 0 {
		return p.fail()
	}
	p.key, p.rest = p.rest[:n], p.rest[n:]
	if !strings.HasPrefix(p.rest, "=") {
		p.item.value = sfvValue{sfvBool, "1"}
		return p.parameters()
	}
	p.rest = p.rest[1:]
	return p.value() && p.parameters()
}

func (p *sfv) value() bool {
	if strings.HasPrefix(p.rest, "(") {
		return p.inner()
	}
	v, n := sfvBare(p.rest)
	if n == 0 {
		return p.fail()
	}
	p.item.value, p.rest = v, p.rest[n:]
	return true
}

// inner checks an inner list and leaves its place marked: no rate-limit field has a use for one.
func (p *sfv) inner() bool {
	p.rest = strings.TrimLeft(p.rest[1:], " ")
	for !strings.HasPrefix(p.rest, ")") {
		_, n := sfvBare(p.rest)
		p.rest = p.rest[n:]
		if n == 0 || !p.parameters() || p.rest == "" || p.rest[0] != ' ' && p.rest[0] != ')' {
			return p.fail()
		}
		p.rest = strings.TrimLeft(p.rest, " ")
	}
	p.item.value, p.rest = sfvValue{kind: sfvInner}, p.rest[1:]
	return true
}

// parameters checks ;key=value and leaves them in the item.
func (p *sfv) parameters() bool {
	w := sfvParams{rest: p.rest, quoted: p.quoted}
	for w.next() {
		continue
	}
	if w.failed {
		return p.fail()
	}
	p.item.params = p.rest[:len(p.rest)-len(w.rest)]
	p.rest = w.rest
	return true
}

// sfvParams walks the parameters of an item.
type sfvParams struct {
	rest   string
	quoted bool // a string may stand in the place of a parameter: its key is empty
	failed bool
	key    string
	value  sfvValue
}

func (i sfvItem) parameters() sfvParams { return sfvParams{rest: i.params, quoted: true} }

func (p *sfvParams) next() bool {
	if !strings.HasPrefix(p.rest, ";") {
		return false
	}
	rest := strings.TrimLeft(p.rest[1:], " ")
	n := sfvKeyLen(rest)
	p.key, rest = rest[:n], rest[n:]
	switch {
	case n > 0 && !strings.HasPrefix(rest, "="):
		p.value, p.rest = sfvValue{sfvBool, "1"}, rest
		return true
	case n > 0:
		rest = rest[1:]
	case !p.quoted || !strings.HasPrefix(rest, `"`):
		p.failed = true
		return false
	}
	p.value, n = sfvBare(rest)
	p.rest = rest[n:]
	p.failed = n == 0
	return n > 0
}
