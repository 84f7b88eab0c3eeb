//go:build race

package simulation

// racing: the race detector makes a run several times as long, and one seed of each scenario shows it all the code there is. The figures are
// those of the plain run.
const racing = true
