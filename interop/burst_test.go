package interop

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-github/v92/github"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/llm"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The burst: three times what a window of the server holds.
const (
	calls  = 300
	limit  = 100
	window = 10 * time.Second
)

// upstream announces its limit in the words of one API.
func upstream(d headers.Dialect, o ...throttletest.Option) *throttletest.Upstream {
	return throttletest.NewUpstream(append([]throttletest.Option{
		throttletest.WithLimits(throttletest.FixedWindow(limit, window)),
		throttletest.WithDialect(d),
		throttletest.WithLatency(throttletest.Latency{Network: 10 * time.Millisecond, Jitter: throttletest.Uniform(0, 6*time.Millisecond),
			Service: throttletest.LogNormal(120*time.Millisecond, 0.4)}),
	}, o...)...)
}

// burst makes all calls at once and holds the figures against the promise: all answered, none refused, no time lost.
func burst(t *testing.T, up *throttletest.Upstream, opts []throttle.Option, call func(ctx context.Context, c *http.Client, i int) error) {
	t.Helper()
	tr, err := throttle.NewTransport(up, opts...)
	require.NoError(t, err)
	defer tr.Close()
	client := &http.Client{Transport: tr}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() { assert.NoError(t, call(context.Background(), client, i)) })
	}
	wg.Wait()
	took := time.Since(start)
	s := up.Stats()
	assert.Equal(t, calls, s.Admitted)
	assert.Zero(t, s.Refused)
	assert.LessOrEqual(t, took, 3*window+time.Second)
	t.Logf("%d calls in %v, %d refused", s.Admitted, took, s.Refused)
}

func TestOpenAI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		burst(t, upstream(headers.OpenAI), []throttle.Option{llm.Preset()}, func(ctx context.Context, c *http.Client, i int) error {
			return chat(ctx, openAI(c), i)
		})
	})
}

// openAI is the SDK as the README says: its own retries off, and no time limit of its own.
func openAI(c *http.Client) openai.Client {
	return openai.NewClient(openaioption.WithHTTPClient(c), openaioption.WithBaseURL("http://api.openai.test/v1"), openaioption.WithAPIKey("test"),
		openaioption.WithMaxRetries(0))
}

func chat(ctx context.Context, c openai.Client, i int) error {
	_, err := c.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(fmt.Sprint("question ", i))},
	})
	return err
}

func TestOpenAIStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		burst(t, upstream(headers.OpenAI), []throttle.Option{llm.Preset()}, func(ctx context.Context, c *http.Client, i int) error {
			s := openAI(c)
			stream := s.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
				Model:    "gpt-4o-mini",
				Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(fmt.Sprint("question ", i))},
			})
			events := 0
			for stream.Next() {
				events++
			}
			if events == 0 && stream.Err() == nil {
				return fmt.Errorf("an empty stream")
			}
			return stream.Err()
		})
	})
}

func TestAnthropic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		burst(t, upstream(headers.Anthropic, throttletest.WithAnswer(anthropicAnswer)), []throttle.Option{llm.Preset()}, func(ctx context.Context, c *http.Client, i int) error {
			return message(ctx, anthropicClient(c), i)
		})
	})
}

// anthropicClient is the SDK as the README says: its own retries off, and a time limit that leaves room for the queue.
func anthropicClient(c *http.Client) anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithHTTPClient(c), anthropicoption.WithBaseURL("http://api.anthropic.test"), anthropicoption.WithAPIKey("test"),
		anthropicoption.WithMaxRetries(0), anthropicoption.WithRequestTimeout(24*time.Hour))
}

func message(ctx context.Context, c anthropic.Client, i int) error {
	_, err := c.Messages.New(ctx, anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 64,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(fmt.Sprint("question ", i)))},
	})
	return err
}

func anthropicAnswer(*http.Request, []byte) []byte {
	return []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"yes"}],
		"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":3}}`)
}

// A queue of fifteen minutes is longer than the ten that the SDK grants a call by default.
func TestAnthropicWaitsLongerThanItsOwnTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := throttletest.NewUpstream(throttletest.WithLimits(throttletest.FixedWindow(20, time.Minute)), throttletest.WithDialect(headers.Anthropic),
			throttletest.WithAnswer(anthropicAnswer))
		tr, err := throttle.NewTransport(up, llm.Preset(), throttle.WithAttemptTimeout(time.Minute))
		require.NoError(t, err)
		defer tr.Close()
		c := anthropicClient(&http.Client{Transport: tr})
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 20 * 16 {
			wg.Go(func() { assert.NoError(t, message(context.Background(), c, i)) })
		}
		wg.Wait()
		assert.Zero(t, up.Stats().Refused)
		assert.Greater(t, time.Since(start), 14*time.Minute)
	})
}

func TestGitHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		burst(t, upstream(headers.GitHub, throttletest.WithAnswer(func(*http.Request, []byte) []byte { return []byte(`{"login":"octocat"}`) })), nil,
			func(ctx context.Context, c *http.Client, i int) error {
				g, err := gitHub(c)
				if err != nil {
					return err
				}
				_, _, err = g.Users.Get(ctx, fmt.Sprint("user-", i))
				return err
			})
	})
}

// gitHub is the SDK as the README says: without its own check, which would refuse calls by itself once an answer said that nothing remains.
func gitHub(c *http.Client) (*github.Client, error) {
	return github.NewClient(github.WithHTTPClient(c), github.WithDisableRateLimitCheck())
}
