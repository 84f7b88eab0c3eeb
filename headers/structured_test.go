package headers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheListOfNamedQuotas(t *testing.T) {
	expect(t, []expectation{
		{
			"two in one line",
			[]string{
				`RateLimit-Policy: "burst";q=100;w=60,"daily";q=1000;w=86400`,
				`RateLimit: "burst";r=0;t=20, "daily";r=121`,
			},
			[]string{
				`requests "burst" limit=100 left=0 reset=20s±1s window=1m0s`,
				`requests "daily" limit=1000 left=121 window=24h0m0s`,
			},
		},
		{
			"two in two lines",
			[]string{
				`RateLimit-Policy: "burst";q=100;w=60`,
				`RateLimit-Policy: "daily";q=1000;w=86400`,
				`RateLimit: "burst";r=0;t=20`,
				`RateLimit: "daily";r=121`,
			},
			[]string{
				`requests "burst" limit=100 left=0 reset=20s±1s window=1m0s`,
				`requests "daily" limit=1000 left=121 window=24h0m0s`,
			},
		},
		{
			"names that differ",
			[]string{
				`RateLimit: "default";r=50;t=30`,
				`RateLimit-Policy: "burst";q=100;w=60`,
			},
			[]string{
				`requests "burst" limit=100 window=1m0s`,
				`requests "default" left=50 reset=30s±1s`,
			},
		},
		{
			"bare tokens",
			[]string{
				`RateLimit-Policy: quota;q=100;w=1`,
				`RateLimit: quota;t=1`,
			},
			[]string{`requests "quota" limit=100 reset=1s±1s window=1s`},
		},
		{
			"units",
			[]string{
				`RateLimit-Policy: "conc";q=8;qu="concurrent-requests"`,
				`RateLimit: "conc";r=6`,
			},
			[]string{`concurrent-requests "conc" limit=8 left=6`},
		},
		{
			"units in the item",
			[]string{`RateLimit: "b";q=9;r=6;w=60;qu="bytes"`},
			[]string{`bytes "b" limit=9 left=6 window=1m0s`},
		},
		{
			"Hugging Face",
			[]string{
				`RateLimit: "api";r=0;t=55`,
				`RateLimit-Policy: "fixed window";"api";q=500;w=300`,
			},
			[]string{`requests "api" limit=500 left=0 reset=55s±1s window=5m0s`},
		},
		{
			"Hugging Face, by the other name",
			[]string{
				`RateLimit: "fixed window";r=0`,
				`RateLimit-Policy: "fixed window";"api";q=500;w=300, "x";"y";q=1;w=1`,
			},
			[]string{
				`requests "fixed window" limit=500 left=0 window=5m0s`,
				`requests "y" limit=1 window=1s`,
			},
		},
		{"escapes", []string{`RateLimit: "a\"b\\";r=1`}, []string{`requests "a\"b\\" left=1`}},
		{
			"the last of a repeated parameter",
			[]string{`RateLimit: "a";r=9;r=1`},
			[]string{`requests "a" left=1`},
		},
		{
			"a moment for a length",
			[]string{`RateLimit: "a";t=1772366430`},
			[]string{`requests "a" reset=30s±1s`},
		},
		{
			"nothing told",
			[]string{
				`RateLimit: "a", "b";x=1`,
				`RateLimit-Policy: "c";w=60`,
			},
			[]string{},
		},
		{
			"members that are no names",
			[]string{`RateLimit: 5;r=1, ?1;r=2, :YQ==:;r=3, ("a" "b");r=4, "ok";r=5`},
			[]string{`requests "ok" left=5`},
		},
		{"an empty name", []string{`RateLimit: "";r=5`}, []string{`requests "" left=5`}},
		{
			"Jira's beta",
			[]string{
				`Beta-RateLimit: "app";r=5`,
				`Beta-RateLimit-Policy: "app";q=9;w=60`,
			},
			[]string{`requests "app" limit=9 left=5 window=1m0s`},
		},
	})
}

func TestPartitionsOfOneQuotaStayApart(t *testing.T) {
	expect(t, []expectation{
		{
			"two partitions",
			[]string{`RateLimit: "d";r=9;pk=:QQ==:, "d";r=3;t=60;pk=:Qg==:`},
			[]string{
				`requests "d" of QQ== left=9`,
				`requests "d" of Qg== left=3 reset=1m0s±1s`,
			},
		},
		{
			"one policy for both",
			[]string{
				`RateLimit: "d";r=9;pk=:QQ==:, "d";r=3;pk=:Qg==:`,
				`RateLimit-Policy: "d";q=10;w=1`,
			},
			[]string{
				`requests "d" of QQ== limit=10 left=9 window=1s`,
				`requests "d" of Qg== limit=10 left=3 window=1s`,
			},
		},
		{
			"a policy for each",
			[]string{
				`RateLimit: "d";r=9;pk=:QQ==:, "d";r=3;pk=:Qg==:`,
				`RateLimit-Policy: "d";q=10;w=1;pk=:QQ==:, "d";q=20;w=1;pk=:Qg==:`,
			},
			[]string{
				`requests "d" of QQ== limit=10 left=9 window=1s`,
				`requests "d" of Qg== limit=20 left=3 window=1s`,
			},
		},
		{
			"the policy alone is of a partition",
			[]string{
				`RateLimit: "d";r=9`,
				`RateLimit-Policy: "d";q=10;w=1;pk=:QQ==:`,
			},
			[]string{`requests "d" limit=10 left=9 window=1s`},
		},
		{
			"no saying which policy",
			[]string{
				`RateLimit: "d";r=9`,
				`RateLimit-Policy: "d";q=10;w=1, "d";q=20;w=60`,
			},
			[]string{
				`requests "d" left=9`,
				`requests "d" limit=10 window=1s`,
				`requests "d" limit=20 window=1m0s`,
			},
		},
		{
			"another partition's policy",
			[]string{
				`RateLimit: "d";r=9;pk=:QQ==:`,
				`RateLimit-Policy: "d";q=10;w=1;pk=:Qg==:`,
			},
			[]string{
				`requests "d" of QQ== left=9`,
				`requests "d" of Qg== limit=10 window=1s`,
			},
		},
		{
			"one name twice in one partition",
			[]string{`RateLimit: "d";r=9;t=5, "d";r=3;t=60`},
			[]string{`requests "d" left=3 reset=1m0s±1s`},
		},
	})
}

func TestAForbiddenValueCostsItsParameterOnly(t *testing.T) {
	for _, bad := range []string{
		"r=-1",
		"r=1.5",
		`r="1"`,
		"r=x",
		"r",
		"r=?1",
		"r=:MQ==:",
		"r=@1",
		`r=%"1"`,
	} {
		require.Equal(t, []string{`requests "d" reset=3s±1s`}, read(`RateLimit: "d";`+bad+`;t=3`), bad)
	}
	for _, bad := range []string{
		"w=0",
		"w=-1",
		"w=99999999999",
		"w=1.5",
		"qu=5",
		`qu=""`,
		"pk=5;pk=::",
	} {
		got := read(`RateLimit-Policy: "d";q=3;` + bad)
		require.Len(t, got, 1, bad)
		require.True(t, strings.HasPrefix(got[0], `requests "d"`), got[0])
		require.True(t, strings.HasSuffix(got[0], "limit=3"), got[0])
	}
	require.Equal(t, []string{`requests "" left=3`}, read("RateLimit: limit=-1, remaining=3, reset=x, other=(1 2)"))
}

func TestABrokenLineIsIgnoredWholeAndAlone(t *testing.T) {
	for _, bad := range []string{
		";;;",
		`"d`,
		`"défaut";r=5;t=3`,
		`"d";r=1234567890123456`,
		`"d";r=5,`,
		`"d";r=5,,"e";r=1`,
		`"d";R=5`,
		`"d" ;r=5`,
		`"d";r=`,
		`"d";r=5;`,
		`"d";=5`,
		`"d"x`,
		`"d";r=5 "e"`,
		`"d\x";r=5`,
		"\"d\te\"",
		"d=5;r=1, x y",
		"(1 2;r=5",
		`"d";r=--5`,
		`'d';r=5`,
	} {
		require.Empty(t, read("RateLimit: "+bad), bad)
		require.Equal(t, []string{`requests "a" left=1`}, read(`RateLimit: "a";r=1`, "RateLimit: "+bad), bad)
	}
}

func TestAReportIsBoundedHoweverManyAreTold(t *testing.T) {
	var items, policies []string
	var h []string
	for i := range 300 {
		name := strings.Repeat("n", 1+i%50) + string(rune('a'+i%26)) + strings.Repeat("x", i/50)
		items = append(items, `"`+name+`";r=1`)
		policies = append(policies, `"`+name+`";q=2;w=60`)
		h = append(h, "X-RateLimit-Limit-"+name+": 5")
	}
	for name, lines := range map[string][]string{
		"items":    {"RateLimit: " + strings.Join(items, ",")},
		"policies": {"RateLimit-Policy: " + strings.Join(policies, ",")},
		"both":     {"RateLimit: " + strings.Join(items, ","), "RateLimit-Policy: " + strings.Join(policies, ",")},
		"names":    h,
	} {
		r := Parse(header(lines...), 200, noon)
		requireSane(t, r)
		require.Len(t, r.Quotas, 64, name)
	}
}
