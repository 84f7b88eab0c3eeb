package interop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"golang.org/x/oauth2"

	"github.com/seed-18ca0a92/throttle"
	"github.com/seed-18ca0a92/throttle/headers"
	"github.com/seed-18ca0a92/throttle/llm"
	"github.com/seed-18ca0a92/throttle/throttletest"
)

// api is a server for the examples: 20 calls a second, told in the words of one API.
func api(d headers.Dialect, o ...throttletest.Option) (base http.RoundTripper, refused func() int) {
	up := throttletest.NewUpstream(append([]throttletest.Option{
		throttletest.WithLimits(throttletest.FixedWindow(20, time.Second)), throttletest.WithDialect(d)}, o...)...)
	return up, func() int { return up.Stats().Refused }
}

func Example_openAI() {
	base, refused := api(headers.OpenAI)
	transport, err := throttle.NewTransport(base, llm.Preset(), throttle.WithAttemptTimeout(10*time.Minute))
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client := openAI(&http.Client{Transport: transport}) // option.WithHTTPClient, option.WithMaxRetries(0)
	for i := range 3 {
		fmt.Println(chat(context.Background(), client, i))
	}
	fmt.Println("refused:", refused())
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// refused: 0
}

func Example_anthropic() {
	base, refused := api(headers.Anthropic, throttletest.WithAnswer(anthropicAnswer))
	transport, err := throttle.NewTransport(base, llm.Preset(), throttle.WithAttemptTimeout(10*time.Minute))
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client := anthropicClient(&http.Client{Transport: transport}) // option.WithMaxRetries(0), option.WithRequestTimeout(24*time.Hour)
	fmt.Println(message(context.Background(), client, 1), "refused:", refused())
	// Output: <nil> refused: 0
}

func Example_gitHub() {
	base, refused := api(headers.GitHub, throttletest.WithAnswer(func(*http.Request, []byte) []byte { return []byte(`{"login":"octocat"}`) }))
	transport, err := throttle.NewTransport(base)
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client, err := gitHub(&http.Client{Transport: transport}) // github.WithDisableRateLimitCheck
	if err != nil {
		panic(err)
	}
	user, _, err := client.Users.Get(context.Background(), "octocat")
	fmt.Println(user.GetLogin(), err, "refused:", refused())
	// Output: octocat <nil> refused: 0
}

// The token is fetched outside, before the call waits, over a client of its own.
func Example_oauth2() {
	base, _ := api(headers.XRateLimit)
	transport, err := throttle.NewTransport(base, throttle.WithKey(throttle.ByHostAndCredential))
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client := &http.Client{Transport: &oauth2.Transport{Base: transport, Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "secret"})}}
	resp, err := client.Post("http://api.example/v1/chat/completions", "application/json", nil)
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	result, ok := throttle.ResultOf(resp)
	fmt.Println(resp.StatusCode, ok, result.Attempts)
	// Output: 200 true 1
}

// Inside, a span is one attempt; outside it would be the time in the queue as well.
func Example_otelhttp() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	defer server.Close()
	transport, err := throttle.NewTransport(otelhttp.NewTransport(nil))
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	resp, err := client.Get(server.URL)
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 200
}

// breaker is a base that stops knocking at a server that is down.
type breaker struct {
	*gobreaker.CircuitBreaker[*http.Response]
	base http.RoundTripper
}

func (b breaker) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Execute(func() (*http.Response, error) { return b.base.RoundTrip(r) })
	if errors.Is(err, gobreaker.ErrOpenState) && r.Body != nil {
		r.Body.Close()
	}
	return resp, err
}

func Example_breaker() {
	base, _ := api(headers.XRateLimit)
	transport, err := throttle.NewTransport(breaker{gobreaker.NewCircuitBreaker[*http.Response](gobreaker.Settings{}), base})
	if err != nil {
		panic(err)
	}
	defer transport.Close()
	resp, err := (&http.Client{Transport: transport}).Get("http://api.example/")
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 200
}
