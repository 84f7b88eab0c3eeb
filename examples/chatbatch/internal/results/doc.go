// Package results writes and reads the output of a batch: one line a request in the shape of OpenAI's Batch output, with further facts in
// fields of their own. It knows which lines of an earlier run stand, and mends a file whose writer was killed.
//
//	out, err := results.Open("results.jsonl", time.Time{}, false)
//	err = out.Begin()
//	err = out.Write(results.Line{CustomID: "a", Response: &results.Response{StatusCode: 200, Body: body}})
//	err = errors.Join(err, out.Tidy(nil), out.Close())
package results
