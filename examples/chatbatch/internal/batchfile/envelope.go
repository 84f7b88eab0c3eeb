package batchfile

import "strings"

// envelope holds the top-level fields of a line that matter, as raw JSON; nil means absent. Names compare exactly, unlike in
// encoding/json, and of a doubled field the last counts, as for every common JSON reader.
type envelope struct {
	id, method, url, body, params []byte
	model, messages, input        []byte
	stream                        []byte
}

func readEnvelope(obj []byte) *envelope {
	e := &envelope{}
	eachField(obj, func(f field) {
		if slot := e.slot(f.key); slot != nil {
			*slot = f.value
		}
	})
	return e
}

func (e *envelope) slot(key string) *[]byte {
	switch key {
	case "custom_id":
		return &e.id
	case "method":
		return &e.method
	case "url":
		return &e.url
	case "body":
		return &e.body
	case "params":
		return &e.params
	case "model":
		return &e.model
	case "messages":
		return &e.messages
	case "input":
		return &e.input
	case "stream":
		return &e.stream
	}
	return nil
}

// checkID returns the decoded custom_id.
func (e *envelope) checkID() (string, *Reject) {
	switch {
	case e.id == nil, isNull(e.id):
		return "", reject(MissingCustomID, "every line needs a custom_id of its own (keys are case-sensitive)")
	case !isString(e.id):
		return "", reject(CustomIDNotString, "custom_id must be a string; a number would be mixed up with its text")
	}
	id := unquote(e.id)
	if id == "" {
		return "", reject(MissingCustomID, "custom_id is empty")
	}
	if halfPair(e.id) {
		return "", reject(CustomIDNotString, "custom_id has half of a surrogate pair (\\ud800 to \\udfff), which is no letter: it cannot be told from others")
	}
	return id, nil
}

func (e *envelope) checkBody() *Reject {
	switch {
	case e.body == nil && e.params != nil:
		return reject(MissingBody, "'params' was found where 'body' was expected (this is Anthropic's shape)")
	case e.body == nil:
		return reject(MissingBody, "the request itself belongs into 'body'")
	case !isObject(e.body):
		return reject(BodyNotObject, "body must be a JSON object, not a text, a list or null")
	}
	return nil
}

func (e *envelope) checkMethod() *Reject {
	if e.method == nil || isNull(e.method) || (isString(e.method) && strings.EqualFold(unquote(e.method), "POST")) {
		return nil
	}
	return reject(MethodNotPost, "only POST can be sent")
}

// checkURL keeps a line from naming a host: where requests go is for the user to say, never for the data.
func (e *envelope) checkURL() *Reject {
	if e.url == nil || isNull(e.url) {
		return nil
	}
	if !isString(e.url) {
		return reject(URLNotSupported, "url must be a string")
	}
	url := unquote(e.url)
	if strings.Contains(url, "://") || strings.HasPrefix(url, "//") {
		return reject(URLNotRelative, "url must be a path: the host is set by -url alone")
	}
	if url != "/v1/chat/completions" && url != "/chat/completions" {
		return reject(URLNotSupported, "only /v1/chat/completions and /chat/completions can be sent")
	}
	return nil
}

// checkChat looks at the fields of a chat body.
func (e *envelope) checkChat() *Reject {
	switch {
	case string(e.stream) == "true":
		return reject(StreamNotSupported, "a batch has nowhere to stream to: leave 'stream' out")
	case e.messages == nil && e.input != nil:
		return reject(MissingMessages, "the body has 'input' and no 'messages': it is not a chat request")
	case !isArray(e.messages):
		return reject(MissingMessages, "a chat body needs a list of 'messages'")
	}
	return nil
}
