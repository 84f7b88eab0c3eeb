//go:build !race

package simulation

const racing = false
