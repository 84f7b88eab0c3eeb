package throttle

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestALimitErrorIsTemporaryWhereTimeHeals(t *testing.T) {
	for err, temporary := range map[error]bool{
		ErrMaxWait: true, ErrMaxHold: true, ErrQueueFull: true, context.DeadlineExceeded: true,
		ErrCostTooLarge: false, ErrClosed: false, context.Canceled: false, errors.New("model not in your tier"): false,
	} {
		assert.Equal(t, temporary, (&LimitError{Err: err}).Temporary(), "%v", err)
	}
}
