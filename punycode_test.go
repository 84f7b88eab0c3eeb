package throttle

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The samples are those of RFC 3492, section 7.1, and a few hosts.
func TestPunycode(t *testing.T) {
	for label, want := range map[string]string{
		"他们为什么不说中文":                    "ihqwcrb4cv8a8dqg056pqjye",
		"他們爲什麽不說中文":                    "ihqwctvzc91f659drss3x8bo0yb",
		"почемужеонинеговорятпорусски": "b1abfaaepdrnnbgefbadotcwatmq2g4l",
		"なぜみんな日本語を話してくれないのか":           "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
		"3年b組金八先生":                     "3b-ww4c5e180e575a65lsy2b",
		"bücher":                       "bcher-kva",
		"faß":                          "fa-hia",
		"\U0001f600":                   "e28h",
	} {
		assert.Equal(t, want, punycode([]rune(label)), label)
	}
}

func TestHostsInASCII(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "",
		"api.example":            "api.example",
		"bücher.example":         "xn--bcher-kva.example",
		"www.bücher.müller.test": "www.xn--bcher-kva.xn--mller-kva.test",
	} {
		assert.Equal(t, want, asciiHost(name))
	}
}
