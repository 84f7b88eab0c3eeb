package throttle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// Whoever reads nothing but the README has seen the name of every option.
func TestReadmeNamesEveryOption(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	text, seen := readme(t), 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "With") {
				seen++
				assert.Contains(t, text, "`"+fn.Name.Name+"`")
			}
		}
	}
	assert.Greater(t, seen, 20)
}

func TestReadmeLinksLeadSomewhere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(readme(t), -1)
	assert.NotEmpty(t, links)
	for _, link := range links {
		if strings.Contains(link[1], "://") {
			continue
		}
		_, err := os.Stat(filepath.FromSlash(link[1]))
		assert.NoError(t, err)
	}
}

// That what they name is there, the examples show.
func TestReadmeBlocksAreGo(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	assert.NotEmpty(t, blocks)
	for _, b := range blocks {
		_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+b[1]+"\n}", parser.SkipObjectResolution)
		assert.NoError(t, err, b[1])
	}
}
