package headers

import "strings"

// leastCount is the smallest count among the lines of a header: each line may speak for another limiter.
func leastCount(lines []string) (least Maybe[float64]) {
	for _, line := range lines {
		if n, ok := countOf(line); ok {
			lower(&least, n)
		}
	}
	return least
}

// countOf reads a limit or what remains: a number, or the one number that a list repeats.
func countOf(line string) (float64, bool) {
	if n, ok := number(line); ok {
		return n, true
	}
	line = trim(line)
	if n, ok := number(line); ok {
		return n, true
	}
	if part, ok := repeated(line); ok {
		return number(part)
	}
	text, _ := sameItem(line)
	return number(text)
}

// sameItem is the number in a line like "7, 7" (joined by a proxy), "76;w=21600" (Docker Hub) or "10, 10;w=1, 1000;w=3600"
// (the first is what counts, the others tell policies). Two different bare numbers ("600,30000", "30,000") mean nothing
// certain.
func sameItem(line string) (text string, ok bool) {
	p := sfv{rest: line}
	if !strings.ContainsAny(line, ",;") || !p.wellFormed() {
		return "", false
	}
	for p.next() {
		switch v := p.item.value; {
		case v.kind != sfvInteger && v.kind != sfvDecimal:
			return "", false
		case text == "":
			text = v.text
		case p.item.params == "" && v.text != text:
			return "", false
		}
	}
	return text, text != ""
}

// repeated is the part of a line that a proxy joined out of equal lines: "6m0s, 6m0s". The part may hold one comma itself, as
// dates do.
func repeated(line string) (part string, ok bool) {
	for i, commas := 0, 0; i < len(line) && commas < 2; i++ {
		if line[i] != ',' {
			continue
		}
		commas++
		if part = trim(line[:i]); part != "" && repeats(line[i:], part) {
			return part, true
		}
	}
	return "", false
}

// repeats reports whether s is part again and again, a comma before each.
func repeats(s, part string) bool {
	for s != "" {
		rest, ok := strings.CutPrefix(trim(s[1:]), part)
		if !ok || s[0] != ',' {
			return false
		}
		s = trim(rest)
	}
	return true
}
