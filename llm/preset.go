package llm

import (
	"net/http"
	"strings"

	"github.com/seed-18ca0a92/throttle"
)

// Preset makes a transport fit for AI services: a quota for each host, credential and model; costs in tokens, input_tokens and output_tokens,
// estimated before the call, settled by the usage in the answer, and better with every answer; Verdict; and chat calls that may be repeated. It stands for
// WithKey, WithCost, WithUsage, WithVerdict and WithIdempotent, so none of them can be given beside it: who wants another key, say, gives the other four
// by hand, of the functions in this package.
func Preset() throttle.Option { return NewEstimator().Preset() }

// Preset is the package's Preset over this estimator, for those who want to ask it too.
func (e *Estimator) Preset() throttle.Option {
	return throttle.Options(
		throttle.WithKey(ByModel),
		throttle.WithCost(e.Cost),
		throttle.WithUsage(e.Usage),
		throttle.WithVerdict(Verdict),
		throttle.WithIdempotent(Repeatable),
	)
}

// ByModel is a key function: the host, a hash of the credential, and the model that the path or the body names.
func ByModel(req *http.Request) string {
	key := throttle.ByHostAndCredential(req)
	if model := promptOf(req).Model; model != "" {
		return key + " " + model
	}
	return key
}

// Repeatable tells the calls that change nothing on the server, so that they may be sent again even if they were processed: the price is
// at most one answer paid twice, where the alternative is none at all.
func Repeatable(req *http.Request) bool {
	if req == nil || req.URL == nil {
		return false
	}
	for _, end := range []string{
		"/chat/completions", "/completions", "/responses", "/messages", "/count_tokens", "/embeddings", "/moderations", "/rerank", "/converse", "/invoke",
		":generateContent", ":streamGenerateContent", ":countTokens", ":embedContent", ":batchEmbedContents",
	} {
		if strings.HasSuffix(req.URL.Path, end) {
			return true
		}
	}
	return false
}
