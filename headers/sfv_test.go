package headers

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sfvSamples exercise every kind of value, well-formed and not.
var sfvSamples = []string{
	"", "a", "a, b", "a,b", "a ,\tb", "a,", ",a", "a b", "a;b", "a;b=1;c=?0", "a; b=1", "a ;b=1", "a;b=", "a;B=1", "a;*b.c-d_e=1",
	"1", "-1", "1.5", "-0.125", "1.", ".5", "1.2345", "123456789012345", "1234567890123456", "123456789012.123", "1234567890123.1", "--1",
	`"x"`, `"x\"y\\z"`, `"x\y"`, `"x`, `"é"`, "\"\x7f\"", ":YWJj:", "::", ":YWJj", ":a b:", ":a,b", "%\"a\x01\"", "?1", "?0", "?2", "?", "*tok/en:~", "tok\x00en",
	"@1659578233", "@-1", "@1.5", "@", `%"f%c3%bc"`, `%"%C3"`, `%"%c3"`, `%"ab`, `%"a"`, "%a", `%"%f"`,
	"()", "(a)", "(a b)", "( a  b )", "(a;x=1 b);y=2", "(a,b)", "(a", "(a b", `("a""b")`, "(a)(b)", "(a) b", "((a))", "()x",
	"k=1", "k=1, l=2", "k", "k;x=1", "k=(1 2);x", "k=", "k=1,", "K=1", "k =1", "limit=100, remaining=50, reset=5", "limit=1;w=2, x",
	`"burst";q=100;w=60,"daily";q=1000;w=86400`, `"default";r=999;pk=:dHJpYWwxMjEzMjM=:`, "100;w=10", ";;;", " a ", "\ta",
}

func TestTheReaderIsAsStrictAsTheLibrary(t *testing.T) {
	for _, text := range sfvSamples {
		requireAgreement(t, text)
	}
}

func TestTheReaderAgreesWithTheLibraryOnWhatNobodyThoughtOf(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		`"a"`, `"b\"c"`, "tok", "1", "-12", "1.25", "?1", ":YQ==:", "@5", `%"a%c3%a9"`, "(", ")", " ", ", ", ",", ";", "; ", "=", "k", "k=", "r=5",
		"\t", `"`, `\`, "é", "*", ".", "-", "9999999999999999", "~", "'", "%", "A",
	})
	rapid.Check(t, func(t *rapid.T) {
		requireAgreement(t, strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""))
	})
}

type failer interface {
	require.TestingT
	Helper()
}

// requireAgreement compares what is well-formed, and what is in it, with httpsfv. It is silent where base64 is ill-formed: the
// library decodes it, the reader leaves that to whom it concerns.
func requireAgreement(t failer, text string) {
	t.Helper()
	if brokenBase64(text) {
		return
	}
	list, err := httpsfv.UnmarshalList([]string{text})
	require.Equal(t, err == nil, sfv{rest: text}.wellFormed(), "list %q: %v", text, err)
	if err == nil {
		require.Equal(t, libraryList(list), readerMembers(sfv{rest: text}), "list %q", text)
	}
	dict, err := httpsfv.UnmarshalDictionary([]string{text})
	require.Equal(t, err == nil, sfv{rest: text, dict: true}.wellFormed(), "dictionary %q: %v", text, err)
	if err != nil {
		return
	}
	last := map[string]string{}
	for p := (sfv{rest: text, dict: true}); p.next(); {
		last[p.key] = readerItem(p.item)
	}
	require.Len(t, last, len(dict.Names()), "dictionary %q", text)
	for _, name := range dict.Names() {
		member, _ := dict.Get(name)
		require.Equal(t, libraryMember(member), last[name], "dictionary %q, %q", text, name)
	}
}

func brokenBase64(text string) bool {
	for i, part := range strings.Split(text, ":") {
		if _, err := base64.StdEncoding.DecodeString(part); i%2 == 1 && err != nil {
			return true
		}
	}
	return false
}

func readerMembers(p sfv) []string {
	texts := []string{}
	for p.next() {
		texts = append(texts, readerItem(p.item))
	}
	return texts
}

func libraryList(list httpsfv.List) []string {
	texts := []string{}
	for _, m := range list {
		texts = append(texts, libraryMember(m))
	}
	return texts
}

// readerItem writes a value and its parameters, the last of each name; of inner lists only that they are one.
func readerItem(i sfvItem) string {
	last := map[string]string{}
	for p := i.parameters(); p.next(); {
		last[p.key] = readerValue(p.value)
	}
	return fmt.Sprint(readerValue(i.value), last)
}

func libraryMember(m httpsfv.Member) string {
	last := map[string]string{}
	params, value := (*httpsfv.Params)(nil), "inner"
	switch m := m.(type) {
	case httpsfv.Item:
		params, value = m.Params, libraryValue(m.Value)
	case httpsfv.InnerList:
		params = m.Params
	}
	for _, name := range params.Names() {
		v, _ := params.Get(name)
		last[name] = libraryValue(v)
	}
	return fmt.Sprint(value, last)
}

func readerValue(v sfvValue) string {
	switch v.kind {
	case sfvInteger, sfvDecimal, sfvDate:
		f, _ := strconv.ParseFloat(v.text, 64)
		return fmt.Sprint("number ", f)
	case sfvString:
		return "string " + v.plain()
	case sfvToken:
		return "token " + v.plain()
	case sfvBytes:
		b, _ := base64.StdEncoding.DecodeString(v.text)
		return "bytes " + string(b)
	case sfvBool:
		return "bool " + v.text
	case sfvDisplay:
		s, _ := url.PathUnescape(v.text)
		return "display " + s
	}
	return "inner"
}

func libraryValue(v any) string {
	switch v := v.(type) {
	case int64:
		return fmt.Sprint("number ", float64(v))
	case float64:
		return fmt.Sprint("number ", v)
	case time.Time:
		return fmt.Sprint("number ", float64(v.Unix()))
	case string:
		return "string " + v
	case httpsfv.Token:
		return "token " + string(v)
	case []byte:
		return "bytes " + string(v)
	case bool:
		return "bool " + map[bool]string{true: "1", false: "0"}[v]
	case httpsfv.DisplayString:
		return "display " + string(v)
	}
	return fmt.Sprintf("unknown %T", v)
}

func TestAStringInThePlaceOfAParameterIsAcceptedOnRequestOnly(t *testing.T) {
	const text = `"fixed window";"api";q=500`
	require.False(t, sfv{rest: text}.wellFormed())
	require.True(t, sfv{rest: text, quoted: true}.wellFormed())
	require.False(t, sfv{rest: `"a";"b`, quoted: true}.wellFormed())
	require.False(t, sfv{rest: `"a";5`, quoted: true}.wellFormed())
}

func TestWalkingALineAllocatesNothing(t *testing.T) {
	const text = `"burst";q=100;w=60,"daily";q=1000;w=86400;pk=:dHJpYWw=:`
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for p := (sfv{rest: text}); p.next(); {
			for q := p.item.parameters(); q.next(); {
				_ = q.value.plain()
			}
		}
	}))
}
