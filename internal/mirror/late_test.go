package mirror

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-18ca0a92/throttle/headers"
)

func TestCallsThatCountWhenTheyEnd(t *testing.T) {
	for name, c := range map[string]struct {
		limit, cost, left float64
		late              bool
	}{
		"nothing was counted":              {100, 40, 100, true},
		"a little of it":                   {100, 40, 95, true},
		"all of it":                        {100, 40, 60, false},
		"more, others draw":                {100, 40, 20, false},
		"one request, counted later":       {100, 1, 100, false},
		"perhaps only rounded":             {40_000, 500, 40_000, false},
		"more than rounding hides":         {40_000, 4000, 40_000, true},
		"a small part, told to the unit":   {40_001, 500, 40_001, true},
		"a small part, rounded to hundred": {40_100, 500, 40_000, true},
	} {
		m := New(epoch)
		m.Spend(epoch, c.cost)
		m.Learn(Answer{Sent: epoch, Received: epoch.Add(time.Second), Cost: c.cost,
			Quota: headers.Quota{Limit: headers.Some(c.limit), Remaining: headers.Some(c.left)}}, Network{})
		assert.Equal(t, c.late, m.Late(), name)
	}
}

// lateTalk is with a server of 10 units a second that holds 1000 and counts calls when they end. Calls reserve 100 and answers tell what was left when
// they came.
type lateTalk struct{ *talk }

func newLateTalk(t *testing.T) lateTalk {
	k := newTalk(t, 1000)
	k.net.Guard = ms
	return lateTalk{k}
}

// ask makes a call that leaves at sent and has used units when its answer comes.
func (k lateTalk) ask(sent, received moment, left, used float64) {
	k.m.Spend(epoch.Add(sent), 100)
	k.m.Learn(Answer{Sent: epoch.Add(sent), Received: epoch.Add(received), Cost: 100, Quota: headers.Quota{Limit: headers.Some(k.limit), Remaining: headers.Some(left)}}, k.net)
	k.m.Settle(epoch.Add(received), 100-used)
	k.m.Use(epoch.Add(received), used)
}

func (k lateTalk) stock(at moment) Stock {
	k.Helper()
	stock, known := k.m.Stock(epoch.Add(at))
	assert.True(k, known)
	return stock
}

// What calls use that end is missing from what the newest answer left.
func TestStockIsWhatIsLeftLessWhatHasEndedSince(t *testing.T) {
	k := newLateTalk(t)
	_, known := k.m.Stock(epoch)
	assert.False(t, known)
	k.ask(0, s, 1000, 40)
	assert.Equal(t, Stock{Left: 960, Most: 1000}, k.stock(s))
	k.ask(2*s, 10*s, 960, 60)
	assert.Equal(t, 900.0, k.stock(10*s).Left, "the 40 of the first are in it already")
}

// Two hundred units are used in ten seconds, and only a hundred are missing.
func TestRateIsWhatHasSurelyComeBack(t *testing.T) {
	k := newLateTalk(t)
	k.ask(0, s, 1000, 200)
	k.ask(2*s, 11*s, 810, 0)
	assert.InDelta(t, 5, k.stock(11*s).Rate, 0.1, "10 have in two seconds, or a little less")
	k.ask(10*s, 12*s, 890, 0)
	stock := k.stock(12 * s)
	assert.InDelta(t, 9, stock.Rate, 0.1)
	assert.InDelta(t, 890+2*9, stock.Left, 1)
	assert.Equal(t, 1000.0, k.stock(time.Hour).Left, "it runs over")
	assert.InDelta(t, 10, stock.After(90).Seconds(), 0.2)
	assert.Equal(t, time.Hour, Stock{}.After(1))
}

// A bucket in debt has nothing left, and does not tell how much it owes.
func TestDebtIsForeknown(t *testing.T) {
	k := newLateTalk(t)
	k.ask(0, s, 1000, 200)
	k.ask(11*s, 12*s, 900, 1500)
	k.ask(13*s, 14*s, 0, 0)
	stock := k.stock(14 * s)
	assert.InDelta(t, -573, stock.Left, 2, "900 and 27 that came back, less 1500")
	assert.InDelta(t, 9, stock.Rate, 0.1, "which is no leap of what it gets back")
}

// Half of the bucket is ours: half stays in it, and half of what comes back is ours.
func TestStockBelowACap(t *testing.T) {
	k := newLateTalk(t)
	k.m.SetCap(500)
	k.ask(0, s, 1000, 200)
	assert.Equal(t, Stock{Left: 300, Most: 500}, k.stock(s))
	k.ask(11*s, 12*s, 900, 0)
	stock := k.stock(12 * s)
	assert.InDelta(t, 4.5, stock.Rate, 0.1)
	assert.InDelta(t, 350, stock.Left, 1)
	assert.InDelta(t, 395, k.stock(22*s).Left, 2)
}

func TestAWindowHasNoStock(t *testing.T) {
	k := newLateTalk(t)
	k.ask(0, s, 1000, 40)
	k.m.law = windowLaw
	_, known := k.m.Stock(epoch.Add(s))
	assert.False(t, known)
	assert.False(t, k.m.LateBucket())
	k.m.law = bucketLaw
	assert.True(t, k.m.LateBucket())
}
