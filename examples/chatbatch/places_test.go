package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Input, output and report are three files, by whatever names and links; if not, nothing is sent and nothing is touched.
func TestOneFileForTwoThings(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	in, earlier := requests(2), `{"custom_id":"x","response":{"status_code":200,"body":{}},"error":null}`+"\n"
	require.NoError(t, os.WriteFile(at("in"), []byte(in), 0o600))
	require.NoError(t, os.WriteFile(at("out"), []byte(earlier), 0o600))
	require.NoError(t, os.Symlink("in", at("to-in")))
	require.NoError(t, os.Symlink("out", at("to-out")))
	require.NoError(t, os.Symlink("new", at("to-new")))
	require.NoError(t, os.Symlink(".", at("here")))
	require.NoError(t, os.Link(at("out"), at("twin")))
	for _, c := range []struct{ name, in, out, report string }{
		{"output is input", "in", "in", ""},
		{"output is a link to input", "in", "to-in", ""},
		{"input is a link to output", "to-in", "in", ""},
		{"report is input", "in", "out", "in"},
		{"report is output", "in", "out", "out"},
		{"report is a link to output", "in", "out", "to-out"},
		{"report is output's twin", "in", "out", "twin"},
		{"report is output, not there yet", "in", "new", "new"},
		{"by a link that leads to nothing yet", "in", "to-new", "new"},
		{"by another folder", "in", "here/new", "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				up := calm()
				args := []string{"-i", at(c.in), "-url", apiHost, "-o", at(c.out)}
				if c.report != "" {
					args = append(args, "-report", at(c.report))
				}
				d := newProgram(t, "", up).start(t, args...)
				assert.Equal(t, exitRefused, d.code)
				assert.Contains(t, d.stderr, "are the same file")
				assert.Zero(t, up.Stats().Arrivals)
				for name, want := range map[string]string{"in": in, "out": earlier} {
					got, err := os.ReadFile(at(name))
					require.NoError(t, err)
					assert.Equal(t, want, string(got))
				}
				assert.NoFileExists(t, at("new"))
			})
		})
	}
}

// Standard output may be a file as well.
func TestAReportOntoStandardOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	stdout, err := os.Create(path)
	require.NoError(t, err)
	defer stdout.Close()
	in := &input{from: stdout}
	b := &batch{settings: &settings{report: path}, world: world{stdout: stdout}, in: &input{}}
	assert.ErrorContains(t, b.checkPlaces(), "standard output and -report")
	b = &batch{settings: &settings{}, world: world{stdout: stdout}, in: in}
	assert.ErrorContains(t, b.checkPlaces(), "-i and standard output")
	b = &batch{settings: &settings{output: os.DevNull, report: os.DevNull}, in: &input{}}
	assert.NoError(t, b.checkPlaces(), "a device holds nothing that could be lost")
}

// The report of an earlier run stays until there is a new one.
func TestAnOldReportStaysWithoutARun(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(2), calm())
		page := p.write(t, "page.html", "the old one, which is longer than nothing")
		d := p.start(t, "-i", p.input, "-url", apiHost, "-o", filepath.Join(p.dir, "no", "out"), "-report", page)
		assert.Equal(t, exitRefused, d.code)
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Contains(t, string(text), "the old one")
		assert.Equal(t, exitDone, p.send(t, "-report", page).code)
		text, err = os.ReadFile(page)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "the old one")
	})
	virtual(t, func(t *testing.T) {
		assert.Equal(t, exitDone, newProgram(t, requests(2), calm()).send(t, "-report", os.DevNull).code)
	})
}

func TestADashIsStandardOutput(t *testing.T) {
	virtual(t, func(t *testing.T) {
		p := newProgram(t, requests(2), calm())
		d := p.start(t, "-i", p.input, "-url", apiHost, "-o", "-")
		assert.Equal(t, exitDone, d.code)
		assert.Len(t, parseResults(t, d.stdout), 2)
		assert.NoFileExists(t, "-")
	})
}

// A pipe that is no file of requests leaves an output as it was, and is not to be tried again.
func TestARefusedPipeTouchesNothing(t *testing.T) {
	virtual(t, func(t *testing.T) {
		torn := `{"custom_id":"x","response":{"status_code":200,"body":{}},"error":null}` + "\n" + `{"custom_id`
		for _, text := range []string{"a,b\n1,2\n", "[{},\n{}]\n", ""} {
			p := newProgram(t, "", calm())
			p.stdin = text
			d := p.start(t, "-url", apiHost, "-o", p.output(), "-report", filepath.Join(p.dir, "page.html"), "-")
			assert.Equal(t, exitRefused, d.code)
			assert.NotContains(t, d.stderr, "continue")
			assert.NoFileExists(t, p.output())
			assert.NoFileExists(t, filepath.Join(p.dir, "page.html"))
			path := p.write(t, "torn.jsonl", torn)
			assert.Equal(t, exitRefused, p.start(t, "-url", apiHost, "-o", path, "-").code)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, torn, string(after))
		}
	})
}
