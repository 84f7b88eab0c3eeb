// Package batchfile reads the files of chat requests that people keep: one JSON object a line, either OpenAI's Batch envelope
// or the bare request bodies of the OpenAI cookbook. It is byte-exact: what it hands out as a body is what stood in the file.
//
//	in, err := batchfile.NewReader(file, batchfile.Options{})
//	for item, err := in.Next(); err == nil; item, err = in.Next() {
//		if item.Reject != nil {
//			fmt.Println(item.Line, item.Reject)
//			continue
//		}
//		send(item.Request.Body)
//	}
package batchfile
