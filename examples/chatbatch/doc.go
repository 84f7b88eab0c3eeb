// Command chatbatch sends a file of chat requests, one JSON object a line, through any OpenAI-compatible endpoint at the full speed that
// its quota allows, and without being refused for it.
//
//	go run ./examples/chatbatch                      # a demonstration with a server of its own
//	go run ./examples/chatbatch -i requests.jsonl -url https://api.openai.com/v1 -o results.jsonl
//	go run ./examples/chatbatch -h                   # all flags, files and exit codes
//
// A run that was stopped, by whatever, goes on where it was when it is started again with the same flags.
package main
