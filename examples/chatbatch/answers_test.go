package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/throttletest"
)

const slashedSecret = "sk-testKEY/abc+123456789xyz"

// everything is what a run has written anywhere, file by file.
func everything(t *testing.T, p *program, d done) string {
	t.Helper()
	files, err := os.ReadDir(p.dir)
	require.NoError(t, err)
	all := d.stdout + d.stderr
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(p.dir, f.Name()))
		require.NoError(t, err)
		all += string(text)
	}
	return all
}

// However a server says the key, no output has it.
func TestTheKeyIsWrittenNowhere(t *testing.T) {
	escaped := strings.ReplaceAll(slashedSecret, "/", `\/`)
	for name, f := range map[string]throttletest.Fault{
		"code of a refused key":  {Status: 401, Body: []byte(`{"error":{"code":"bad key ` + slashedSecret + `"}}`)},
		"code of a bad request":  {Status: 400, Body: []byte(`{"error":{"type":"bad key ` + escaped + `"}}`)},
		"escaped in a refusal":   {Status: 400, Body: []byte(`{"error":{"message":"bad key ` + escaped + `"}}`)},
		"header of an answer":    {Header: http.Header{"X-Request-Id": {"k-" + slashedSecret}}, Body: []byte(`{"choices":[]}`)},
		"place of a redirect":    {Status: 307, Header: http.Header{"Location": {"https://elsewhere.example/?key=" + slashedSecret}}},
		"cut through in a page":  {Body: []byte("<html>" + strings.Repeat("x", 480) + slashedSecret)},
		"masked, cut in a page":  {Body: []byte("<html>" + strings.Repeat("x", 485) + " sk-tes*****9xyz")},
		"cut through in a proxy": {Status: 502, Body: []byte(strings.Repeat("x", 490) + slashedSecret)},
		"error in an answer":     {Body: []byte(`{"error":{"code":"` + escaped + `"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				p := newProgram(t, requests(3), calm(after(0, f)))
				p.env["OPENAI_API_KEY"] = slashedSecret
				d := p.send(t, "-max-attempts", "1", "-report", filepath.Join(p.dir, "report.html"))
				text := everything(t, p, d)
				for _, part := range []string{"testKEY", "sk-te", "9xyz"} {
					assert.False(t, strings.Contains(text, part), part) // the text itself is long
				}
			})
		})
	}
}

// A server must not paint on the terminal.
func TestNoCommandsForTheTerminal(t *testing.T) {
	virtual(t, func(t *testing.T) {
		f := throttletest.Fault{Status: 400, Body: []byte(`{"error":{"code":"\u001b[31mred\u202e\r"}}`)}
		p := newProgram(t, requests(3), calm(after(0, f)))
		page := filepath.Join(p.dir, "page.html")
		d := p.send(t, "-report", page)
		report, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Contains(t, d.stderr, "[31mred")
		for _, bad := range []string{"\x1b", "\r", "\u202e"} {
			assert.NotContains(t, d.stderr+string(report), bad)
		}
	})
}

// What was paid for is kept, though its bytes are not quite what they should be; and the file is JSON in UTF-8 all the same.
func TestAnswersThatAreNotQuiteJSON(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(byText(map[string]throttletest.Fault{
			"mark":  {Body: []byte("\xef\xbb\xbf" + `{"choices":[1]}`)},
			"bytes": {Body: []byte(`{"choices":["caf` + "\xe9" + `"]}`)},
		}))
		p := newProgram(t, request("mark", "mark")+"\n"+request("bytes", "bytes")+"\n", up)
		d := p.send(t)
		assert.Equal(t, exitDone, d.code, d.stderr)
		all := d.byID(t)
		assert.JSONEq(t, `{"choices":[1]}`, string(all["mark"].Response.Body))
		assert.JSONEq(t, `{"choices":["caf`+"\uFFFD"+`"]}`, string(all["bytes"].Response.Body))
		text := outText(t, p)
		assert.True(t, utf8.ValidString(text))
		for line := range strings.Lines(text) {
			assert.True(t, json.Valid([]byte(line)))
		}
	})
}

// An error is no answer, whatever its status: it is told, sent again, and an empty account stops the job.
func TestErrorsWithTheStatusOfASuccess(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(20), calm(after(0, throttletest.Fault{Body: []byte(`{"error":{"message":"no money","code":"insufficient_quota"}}`)})))
		d := p.send(t, "-concurrency", "2")
		assert.Equal(t, exitStopped, d.code)
		assert.Contains(t, d.stderr, "HTTP 200 insufficient_quota")
		assert.Zero(t, d.answered())

		p.up = calm(after(0, throttletest.Fault{Body: []byte(`{"error":"moderated"}`)}))
		d = p.send(t)
		assert.Equal(t, exitSomeFailed, d.code, d.stderr)
		assert.Equal(t, "answer_is_error", d.out[0].Error.Code)
		assert.Equal(t, 200, d.out[0].Response.StatusCode)

		p.up = calm()
		d = p.send(t)
		assert.Equal(t, exitDone, d.code)
		assert.Equal(t, 20, d.answered())
	})
}

// A wrong -url that only redirects is one sentence with the right place, not a failure of every line.
func TestARedirectOfEverythingStopsTheJob(t *testing.T) {
	virtual(t, func(t *testing.T) {
		up := calm(after(0, throttletest.Fault{Status: 307, Header: http.Header{"Location": {"https://api.example/v1/chat/completions"}}}))
		d := newProgram(t, requests(200), up).send(t, "-concurrency", "8")
		assert.Equal(t, exitStopped, d.code)
		assert.LessOrEqual(t, up.Stats().Arrivals, 8)
		assert.Contains(t, d.stderr, "to https://api.example/v1/chat/completions")
	})
}

// Errors of the own limits name the host and the model, and nothing that is made of the key.
func TestLimitErrorsNameNoHash(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, request("big", strings.Repeat("word ", 20_000))+"\n", calm())
		d := p.send(t, "-tpm", "1000")
		require.Equal(t, "cost_too_large", d.out[0].Error.Code)
		assert.Contains(t, d.out[0].Error.Message, "api.example m:")
		assert.NotRegexp(t, `#[0-9a-f]{16}`, everything(t, p, d))
	})
}

// A server that makes every code new and long must not fill the memory or the screen.
func TestLongCodesAreCut(t *testing.T) {
	virtual(t, func(t *testing.T) {
		f := throttletest.Fault{Status: 400, Body: []byte(fmt.Sprintf(`{"error":{"code":%q}}`, strings.Repeat("x", 5000)))}
		d := newProgram(t, requests(2), calm(after(0, f))).send(t)
		assert.Less(t, len(d.stderr), 2000)
	})
}
