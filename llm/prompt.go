package llm

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
)

// maxBody is how much of a request body is looked at, in bytes: above what services accept with images inline. Longer bodies count as far as they were read.
const maxBody = 64 << 20

// Prompt is what a request asks for, as far as its cost depends on it. The zero value is a request of which nothing is known.
type Prompt struct {
	Model     string // as the path or the body names it; empty = not said
	Chars     int    // of text, in bytes of UTF-8; inline data such as images is left out
	Images    int    // images, sounds and files, inline or by address
	MaxOutput int    // most tokens of one answer; 0 = not said
	Answers   int    // how many answers are asked for; 0 = one
}

type promptKey struct{}

// NewContext is a context whose requests need not be read to know their Prompt. It saves three passes over the body for callers who have made one.
func NewContext(ctx context.Context, p Prompt) context.Context {
	return context.WithValue(ctx, promptKey{}, &p)
}

// promptOf is the Prompt that req's context carries, or what its body and path say. A body that cannot be read twice is not read.
func promptOf(req *http.Request) Prompt {
	if req == nil {
		return Prompt{}
	}
	if p, ok := req.Context().Value(promptKey{}).(*Prompt); ok {
		return *p
	}
	p := Inspect(replay(req))
	if named := modelInPath(req); named != "" {
		p.Model = named
	}
	return p
}

// replay is a copy of req's body, nil if it has none that can be read again or if it is no JSON.
func replay(req *http.Request) []byte {
	if req.GetBody == nil || !speaksJSON(req.Header.Get("Content-Type")) {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	var b bytes.Buffer
	if req.ContentLength > 0 {
		b.Grow(int(min(req.ContentLength, maxBody)) + bytes.MinRead)
	}
	_, _ = b.ReadFrom(io.LimitReader(body, maxBody)) // what could be read is better than nothing
	return b.Bytes()
}

func speaksJSON(contentType string) bool {
	return contentType == "" || strings.Contains(contentType, "json")
}

// modelInPath is the model or deployment that the URL names: it is the quota's, whatever the body says. Azure has /deployments/NAME/,
// Gemini /models/NAME:method, Bedrock /model/NAME/invoke.
func modelInPath(req *http.Request) string {
	if req.URL == nil {
		return ""
	}
	for _, mark := range []string{"/deployments/", "/models/", "/model/"} {
		if _, rest, ok := strings.Cut(req.URL.Path, mark); ok {
			name, _, _ := strings.Cut(rest, "/")
			name, _, _ = strings.Cut(name, ":")
			return name
		}
	}
	return ""
}
