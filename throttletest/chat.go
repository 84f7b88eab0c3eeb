package throttletest

import (
	"strconv"
	"time"
)

// chat is a chat completion, or one event of a streamed one, as OpenAI gives it.
type chat struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
}

type choice struct {
	Index        int      `json:"index"`
	Message      *message `json:"message,omitempty"`
	Delta        *message `json:"delta,omitempty"`
	FinishReason *string  `json:"finish_reason"`
}

type message struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Total      float64 `json:"total_tokens"`
}

// echoed is how much of the last message comes back, in characters: enough to tell answers apart.
const echoed = 200

// chatText is the text of an answer. It repeats the end of the conversation, so that a test sees which call it belongs to.
func chatText(k *call) string {
	last := []rune(k.ask.last)
	return "You said: " + string(last[:min(len(last), echoed)])
}

func usageOf(k *call) *usage {
	return &usage{Prompt: k.ask.input, Completion: k.output, Total: k.ask.input + k.output}
}

func newChat(k *call, v *verdict, object string, u *usage, choices ...choice) chat {
	return chat{
		ID: "chatcmpl-" + strconv.Itoa(v.n), Object: object, Created: v.at.Unix(), Model: k.ask.Model,
		Choices: append([]choice{}, choices...), Usage: u,
	}
}

// stop is why all these answers end.
var stop = "stop"

func chatBody(k *call, v *verdict) []byte {
	said := choice{Message: &message{Role: "assistant", Content: chatText(k)}, FinishReason: &stop}
	return encode(newChat(k, v, "chat.completion", usageOf(k), said))
}

// events is how many events with text a stream has at most.
const events = 20

// chatStream is the same as server-sent events, with the usage in the last one before [DONE]. The tokens are spread over the
// events, and so is the time that they take.
func chatStream(k *call, v *verdict, perToken time.Duration) *flow {
	text := []rune(chatText(k))
	n := min(int(k.output), events, len(text))
	gap := time.Duration(float64(perToken) * k.output / float64(n))
	f := &flow{}
	add := func(gap time.Duration, u *usage, choices ...choice) {
		f.pieces = append(f.pieces, event(gap, encode(newChat(k, v, "chat.completion.chunk", u, choices...))))
	}
	for i := range n {
		add(gap, nil, choice{Delta: &message{Content: string(text[len(text)*i/n : len(text)*(i+1)/n])}})
	}
	add(0, nil, choice{Delta: &message{}, FinishReason: &stop})
	add(0, usageOf(k))
	f.pieces = append(f.pieces, event(0, []byte("[DONE]\n")))
	return f
}

// event is one server-sent event; data ends with a newline.
func event(gap time.Duration, data []byte) piece {
	return piece{gap, append(append([]byte("data: "), data...), '\n')}
}

// embeddings is a list of vectors, as OpenAI gives it.
type embeddings struct {
	Object string      `json:"object"`
	Model  string      `json:"model"`
	Data   []embedding `json:"data"`
	Usage  usage       `json:"usage"`
}

type embedding struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float64 `json:"embedding"`
}

// embeddingBody has one short vector, whatever was asked.
func embeddingBody(k *call) []byte {
	return encode(embeddings{
		Object: "list", Model: k.ask.Model, Usage: usage{Prompt: k.ask.input, Total: k.ask.input},
		Data: []embedding{{Object: "embedding", Embedding: []float64{0.25, -0.5, 0.75}}},
	})
}
