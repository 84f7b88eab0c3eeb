package throttle

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALimitErrorIsTemporaryWhereTimeHeals(t *testing.T) {
	for err, temporary := range map[error]bool{
		ErrMaxWait: true, ErrMaxHold: true, ErrQueueFull: true, context.DeadlineExceeded: true,
		ErrCostTooLarge: false, ErrClosed: false, context.Canceled: false, errors.New("model not in your tier"): false,
	} {
		assert.Equal(t, temporary, (&LimitError{Err: err}).Temporary(), "%v", err)
	}
}

// The answer is the caller's: what he does to its header shows in no error that others get.
func TestALimitErrorHasAHeaderOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(func(int, *http.Request) reply { return reply{status: 429, header: fields("Retry-After", "7200")} })
		c, _ := client(t, s)
		resp, _, err := get(c, api)
		require.NoError(t, err)
		resp.Header.Del("Retry-After")
		_, _, err = get(c, api)
		var limit *LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, "7200", limit.Header.Get("Retry-After"))
	})
}
