// Package simulation plays the whole client against strict upstreams in virtual time, and judges it by four figures: how long the work took
// against the least time in which it can be done, how many calls were refused, how evenly processes shared, and how long calls waited.
//
// Each row of its tables is a kind of server in one setting. Ratio is the time the work took over the least time, /1000 the refusals per 1000 calls
// let in, use the part of the limit that whole minutes of the clock let in, per window the fewest and the most that one of them did. Below
// a row stands what else was measured, and which goal is missed.
//
// It holds nothing but tests: run them with -v to see the table, and with -sim.seeds=20 for more runs of each scenario.
package simulation
