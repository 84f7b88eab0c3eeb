package batchfile

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIDsKeepTheFirstNumber(t *testing.T) {
	ids := NewIDs[int]()
	first, dup := ids.Add("a", 1)
	assert.Equal(t, 1, first)
	assert.False(t, dup)
	first, dup = ids.Add("a", 9)
	assert.Equal(t, 1, first)
	assert.True(t, dup)
	ids.Set("a", 5)
	n, ok := ids.Get("a")
	assert.True(t, ok)
	assert.Equal(t, 5, n)
	_, ok = ids.Get("b")
	assert.False(t, ok)
}

func TestIDsTellManyApart(t *testing.T) {
	ids := NewIDs[int]()
	for i := range 100_000 {
		_, dup := ids.Add(strconv.Itoa(i), i)
		if dup {
			t.Fatalf("%d was taken for another", i)
		}
	}
	assert.Equal(t, 100_000, ids.Len())
}
