// Package results writes and reads the output of a batch: one line a request in the shape of OpenAI's Batch output, with further facts in
// fields of their own. It knows which lines of an earlier run stand, and mends a file whose writer was killed.
//
//	out, err := results.Open("results.jsonl", time.Time{}, false)
//	err = out.Begin(nil)
//	err = out.Write(results.Line{CustomID: "a", Response: &results.Response{StatusCode: 200, Body: body}})
//	err = out.Close()
package results
