package headers

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNumbersAreDigitsWithAtMostOneDot(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "7": 7, "007": 7, "99.0": 99, "0.0167": 0.0167, "1000000000": 1e9, "5.": 5, ".5": 0.5,
		"999999999999999": 999999999999999, "1234567890123456": 1234567890123456,
		"99999999999999999999": 1e20, strings.Repeat("9", 40): 1e40,
	} {
		got, ok := number(text)
		require.True(t, ok, text)
		require.InEpsilon(t, want+1, got+1, 1e-15, text)
	}
}

func TestWhatGoWouldTakeForANumberIsRefused(t *testing.T) {
	for _, text := range []string{
		"",
		".",
		"-1",
		"+3",
		"1e3",
		"0x1p4",
		"0x10",
		"1_000",
		"Inf",
		"Infinity",
		"NaN",
		"1.2.3",
		"120junk",
		" 5",
		"5 ",
		`"30"`,
		"１００",
		"٣",
		"1,000",
		"unlimited",
		strings.Repeat("9", 41),
		strings.Repeat("9", 6000),
	} {
		_, ok := number(text)
		require.False(t, ok, text)
		_, ok = parseDecimal(text)
		require.False(t, ok, text)
	}
}

func TestADecimalIsKeptExactly(t *testing.T) {
	for text, want := range map[string]decimal{
		"0":                    {},
		"45.837906927":         {45, 837906927, 9},
		"0.000000001":          {0, 1, 9},
		"0.0000000001":         {0, 1, 10}, // rounded up: a wait is never shortened
		"0.9999999999":         {0, 1e9, 10},
		"1.50":                 {1, 5e8, 2},
		"18446744073709551615": {math.MaxUint64, 0, 0},
		"99999999999999999999": {math.MaxUint64, 0, 0}, // saturated
	} {
		got, ok := parseDecimal(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
}

func TestALengthIsBoundedBeforeItIsMultiplied(t *testing.T) {
	for _, c := range []struct {
		text string
		unit time.Duration
		want time.Duration
		ok   bool
	}{
		{"1", time.Second, time.Second, true},
		{"0.0000000001", time.Second, 1, true},
		{"678", time.Millisecond, 678 * time.Millisecond, true},
		{"0.5", time.Millisecond, 500 * time.Microsecond, true},
		{"0.0001", time.Microsecond, 1, true},
		{"31622400", time.Second, 366 * 24 * time.Hour, true},
		{"31622400.000000001", time.Second, 0, false},
		{"31622401", time.Second, 0, false},
		{"9223372037", time.Second, 0, false},  // would turn negative
		{"18446744074", time.Second, 0, false}, // would come round to 0.29 s
		{"99999999999999999999", time.Nanosecond, 0, false},
		{"366", 24 * time.Hour, 366 * 24 * time.Hour, true},
	} {
		n, ok := parseDecimal(c.text)
		require.True(t, ok, c.text)
		got, ok := n.times(c.unit)
		require.Equal(t, c.ok, ok, c.text)
		if ok {
			require.Equal(t, c.want, got, c.text)
		}
	}
}

func TestTheGrainIsOneStepOfTheLastPlace(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30": time.Second, "30.5": 100 * time.Millisecond, "64.57": 10 * time.Millisecond, "64.570": 0, "0.4930001": 0,
	} {
		n, _ := parseDecimal(text)
		require.Equal(t, want, n.grain(time.Second), text)
		require.Zero(t, n.grain(time.Millisecond), text)
	}
}

func TestDurationsAreReadAsGoPrintsThem(t *testing.T) {
	for text, want := range map[string][2]time.Duration{
		"0s":           {0, time.Second},
		"1s":           {time.Second, time.Second},
		"6m0s":         {6 * time.Minute, time.Second},
		"2m59.56s":     {179560 * time.Millisecond, 10 * time.Millisecond},
		"7.66s":        {7660 * time.Millisecond, 10 * time.Millisecond},
		"17ms":         {17 * time.Millisecond, 0},
		"850µs":        {850 * time.Microsecond, 0},
		"850\u03bcs":   {850 * time.Microsecond, 0},
		"850us":        {850 * time.Microsecond, 0},
		"12ns":         {12, 0},
		"1h30m0s":      {90 * time.Minute, time.Second},
		"1h":           {time.Hour, time.Hour},
		"90m":          {90 * time.Minute, time.Minute},
		"1d2h":         {26 * time.Hour, time.Hour},
		"366d":         {366 * 24 * time.Hour, 24 * time.Hour},
		"247.391582ms": {247391582, 0},
	} {
		d, grain, ok := parseDuration(text)
		require.True(t, ok, text)
		require.Equal(t, want, [2]time.Duration{d, grain}, text)
	}
}

func TestDurationsThatAreNoneAreRefused(t *testing.T) {
	for _, text := range []string{
		"",
		"s",
		"-5s",
		"+5s",
		"1h-2m",
		"6m0",
		"30",
		"1 s",
		"1S",
		"1e3s",
		"999999h",
		"366d1ns",
		"1w",
		"1s ",
		"1..5s",
		".s",
		strings.Repeat("1s", 21),
		"99999999999999999999s",
	} {
		_, _, ok := parseDuration(text)
		require.False(t, ok, text)
	}
}
