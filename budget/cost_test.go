package budget_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-18ca0a92/throttle/budget"
)

func TestACostCountsOneRequestUnlessItSaysOtherwise(t *testing.T) {
	for _, c := range []struct {
		cost budget.Cost
		unit string
		want float64
	}{
		{nil, budget.Requests, 1}, {nil, "", 1}, {nil, budget.Tokens, 0},
		{budget.Cost{}, budget.Requests, 1},
		{budget.Cost{budget.Tokens: 500}, budget.Requests, 1},
		{budget.Cost{budget.Tokens: 500}, budget.Tokens, 500},
		{budget.Cost{budget.Tokens: 500}, budget.InputTokens, 0},
		{budget.Cost{budget.Requests: 0}, budget.Requests, 0},
		{budget.Cost{budget.Requests: 3}, "", 3},
	} {
		assert.Equal(t, c.want, c.cost.Of(c.unit), "%v of %q", c.cost, c.unit)
	}
}

func TestCostsThatCannotBeCountedAreErrors(t *testing.T) {
	for _, fine := range []budget.Cost{nil, {}, {budget.Requests: 0}, {budget.Tokens: 0.5, "credits": 1e15}} {
		assert.NoError(t, fine.Validate(), "%v", fine)
	}
	for _, bad := range []float64{-1, -1e-9, math.NaN(), math.Inf(1), math.Inf(-1), 1e16} {
		err := budget.Cost{budget.Tokens: bad, budget.Requests: 1}.Validate()
		assert.ErrorContains(t, err, "tokens: use a number from 0 to 1e+15", "%v", bad)
	}
	assert.ErrorContains(t, budget.Cost{"": 5}.Validate(), `cost of 5 without a unit: name it, for example "requests"`)
	several := budget.Cost{"c": -3, "a": -1, "b": math.NaN()}
	for range 20 {
		assert.EqualError(t, several.Validate(), "budget: cost of -1 a: use a number from 0 to 1e+15")
	}
}

func TestACloneIsACopy(t *testing.T) {
	mine := budget.Cost{budget.Tokens: 5}
	copied := mine.Clone()
	mine[budget.Tokens] = 7
	assert.Equal(t, budget.Cost{budget.Tokens: 5}, copied)
	assert.Nil(t, budget.Cost(nil).Clone())
}

func TestCostsAreReadWithoutAllocating(t *testing.T) {
	cost := budget.Cost{budget.Tokens: 5}
	sum := 0.0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		sum += budget.Cost(nil).Of("") + budget.Cost(nil).Of(budget.Tokens) + cost.Of(budget.Tokens)
		if cost.Validate() != nil || budget.Cost(nil).Validate() != nil {
			sum = math.NaN()
		}
	}))
	assert.Equal(t, 101*6.0, sum)
}
