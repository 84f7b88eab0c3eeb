// Package headers reads what the answers of HTTP APIs say about limits and waits, and writes it for servers in tests. It knows
// the families of headers that are in use (the RateLimit fields of the IETF in all their drafts, X-RateLimit-* in all its
// readings, those of AI services, Retry-After) and a table of vendors that follow none.
//
//	resp, err := http.Get("https://api.example.com/items")
//	...
//	report := headers.Parse(resp.Header, resp.StatusCode, time.Now())
//	for _, q := range report.Quotas {
//		fmt.Println(q.Unit, q.Remaining.Value, "left, more in", q.Reset.Value)
//	}
//	if resp.StatusCode == http.StatusTooManyRequests {
//		fmt.Println("come back in", report.Wait().Value)
//	}
//
// It guesses nothing: what a server did not say, or said in a way that has no certain meaning, is unknown. Reading costs one
// pass over the header and no allocation but that of the report.
package headers
