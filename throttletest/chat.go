package throttletest

import (
	"fmt"
	"time"
)

// echoed is how much of the last message comes back, in characters: enough to tell answers apart.
const echoed = 200

// chatText is the text of an answer. It repeats the end of the conversation, so that a test sees which call it belongs to.
func chatText(k *call) string {
	last := []rune(k.ask.last)
	if len(last) > echoed {
		last = last[:echoed]
	}
	return "You said: " + string(last)
}

func usage(k *call) map[string]any {
	return map[string]any{
		"prompt_tokens": k.ask.input, "completion_tokens": k.output, "total_tokens": k.ask.input + k.output,
	}
}

// chatBody is a chat completion as OpenAI gives it.
func chatBody(k *call, v *verdict) []byte {
	return encode(map[string]any{
		"id": chatID(v), "object": "chat.completion", "created": v.at.Unix(), "model": k.ask.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": chatText(k)},
		}},
		"usage": usage(k),
	})
}

func chatID(v *verdict) string { return fmt.Sprintf("chatcmpl-%d", v.n) }

// events is how many events with text a stream has at most.
const events = 20

// chatStream is the same as server-sent events, with the usage in the last one before [DONE]. The tokens are spread over the
// events, and so is the time that they take.
func chatStream(k *call, v *verdict, perToken time.Duration) *flow {
	text := []rune(chatText(k))
	n := min(int(k.output), events, len(text))
	gap := time.Duration(float64(perToken) * k.output / float64(n))
	f := &flow{}
	for i := range n {
		part := text[len(text)*i/n : len(text)*(i+1)/n]
		f.add(gap, chunk(k, v, []any{map[string]any{"index": 0, "delta": map[string]any{"content": string(part)}}}, nil))
	}
	stop := []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}}
	f.add(0, chunk(k, v, stop, nil))
	f.add(0, chunk(k, v, []any{}, usage(k)))
	f.add(0, []byte("[DONE]\n"))
	return f
}

// add appends an event; data ends with a newline.
func (f *flow) add(gap time.Duration, data []byte) {
	f.pieces = append(f.pieces, piece{gap, append(append([]byte("data: "), data...), '\n')})
}

func chunk(k *call, v *verdict, choices []any, usage map[string]any) []byte {
	return encode(map[string]any{
		"id": chatID(v), "object": "chat.completion.chunk", "created": v.at.Unix(), "model": k.ask.Model,
		"choices": choices, "usage": usage,
	})
}

// embeddingBody is a list with one short vector.
func embeddingBody(k *call) []byte {
	return encode(map[string]any{
		"object": "list", "model": k.ask.Model,
		"data":  []any{map[string]any{"object": "embedding", "index": 0, "embedding": []float64{0.25, -0.5, 0.75}}},
		"usage": map[string]any{"prompt_tokens": k.ask.input, "total_tokens": k.ask.input},
	})
}
