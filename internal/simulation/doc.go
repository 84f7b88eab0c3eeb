// Package simulation plays the whole client against strict upstreams in virtual time, and judges it by four figures: how long the work took
// against the least time in which it can be done, how many calls were refused, how evenly processes shared, and how long calls waited.
//
// It holds nothing but tests: run them with -v to see the table, and with -sim.seeds=20 for more runs of each scenario.
package simulation
