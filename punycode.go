package throttle

import "strings"

// The parameters of Punycode (RFC 3492, section 5).
const (
	punyBase, punyMin, punyMax   = 36, 1, 26
	punySkew, punyDamp           = 38, 700
	punyFirstBias, punyFirstRune = 72, 0x80
)

// asciiHost spells an international host name as it is looked up: each label with other letters as "xn--" and its Punycode. name is in lower
// case, which is all of the preparation that host names need to be told apart.
func asciiHost(name string) string {
	if isASCII(name) {
		return name
	}
	labels := strings.Split(name, ".")
	for i, label := range labels {
		if !isASCII(label) {
			labels[i] = "xn--" + punycode([]rune(label))
		}
	}
	return strings.Join(labels, ".")
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= punyFirstRune {
			return false
		}
	}
	return true
}

// punycode is the encoding procedure of RFC 3492, section 6.3.
func punycode(label []rune) string {
	var out []byte
	for _, r := range label {
		if r < punyFirstRune {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	bias, n, delta := punyFirstBias, rune(punyFirstRune), 0
	for done := basic; done < len(label); n++ {
		next := smallestFrom(label, n)
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			out = appendDelta(out, delta, bias)
			bias = adapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
	}
	return string(out)
}

// smallestFrom is the least rune of label that is not below n.
func smallestFrom(label []rune, n rune) rune {
	least := rune(0x10FFFF)
	for _, r := range label {
		if r >= n && r < least {
			least = r
		}
	}
	return least
}

// appendDelta writes one number, in digits whose base depends on their place.
func appendDelta(out []byte, delta, bias int) []byte {
	for k := punyBase; ; k += punyBase {
		t := min(max(k-bias, punyMin), punyMax)
		if delta < t {
			return append(out, punyDigit(delta))
		}
		out = append(out, punyDigit(t+(delta-t)%(punyBase-t)))
		delta = (delta - t) / (punyBase - t)
	}
}

func punyDigit(d int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[d] }

// adapt is the bias for the next number.
func adapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (punyBase-punyMin)*punyMax/2; k += punyBase {
		delta /= punyBase - punyMin
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}
