package throttle

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/seed-18ca0a92/throttle"

// arrows are the imports that a room may have beyond the standard library. "." is the root package.
var arrows = map[string]struct {
	may    []string
	reason string
}{
	"budget":              {[]string{"golang.org/x/time/rate", module + "/internal/seal"}, "the laws of counting know no client, no header, no network"},
	"backoff":             {[]string{"github.com/cenkalti/backoff/v4"}, "a delay depends on nothing but its number"},
	"headers":             {nil, "reading headers needs no limiter"},
	"internal/mirror":     {[]string{module + "/budget", module + "/headers"}, "learning is pure: the lane gives it the time and the answers"},
	"internal/bank":       {[]string{module + "/budget", module + "/headers"}, "learning is pure: the lane gives it the time and the answers"},
	"throttletest":        {[]string{module + "/budget", module + "/headers", "golang.org/x/net/http2"}, "a judge must not share code with what it judges"},
	"llm":                 {[]string{module, module + "/budget", module + "/headers"}, "a preset is made of what any user could write"},
	"budget/redisbudget":  {[]string{module + "/budget", module + "/internal/", "github.com/redis/go-redis/v9"}, "Redis is known in its own room alone"},
	"otelthrottle":        {[]string{module, "go.opentelemetry.io/"}, "telemetry is known in its own room alone"},
	".":                   {[]string{module + "/budget", module + "/backoff", module + "/headers", module + "/internal/", "github.com/hashicorp/go-retryablehttp"}, "whoever imports the transport gets nothing else"},
	"budget/internal":     {[]string{module + "/budget"}, "inside budget"},
	"examples":            {[]string{"*"}, "an example may use what it likes"},
	"internal/seal":       {nil, "a seal is nothing but a name"},
	"internal/simulation": {[]string{"*"}, "the simulation plays the whole house"},
}

func TestArrowsGoDownwards(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "bench" || path == "interop") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		checkImports(t, path)
		return nil
	}))
}

func checkImports(t *testing.T, path string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	room := roomOf(filepath.ToSlash(filepath.Dir(path)))
	rule, ok := arrows[room]
	if !ok {
		t.Errorf("%s: the room %q has no rule: say in arrows what it may import, and why", path, room)
		return
	}
	for _, spec := range f.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") || allowed(name, rule.may) {
			continue
		}
		t.Errorf("%s imports %s: %s", path, name, rule.reason)
	}
}

// roomOf is the longest room that dir lies in.
func roomOf(dir string) string {
	for d := dir; d != "."; d = filepath.ToSlash(filepath.Dir(d)) {
		if _, ok := arrows[d]; ok {
			return d
		}
	}
	if dir != "." {
		return dir
	}
	return "."
}

func allowed(name string, may []string) bool {
	for _, m := range may {
		if m == "*" || name == m || strings.HasSuffix(m, "/") && strings.HasPrefix(name, m) {
			return true
		}
	}
	return false
}
