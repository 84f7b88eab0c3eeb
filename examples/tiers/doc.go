// Command tiers shows how one client serves customers of different tiers: a policy function looks up, once per customer and model, what
// the customer's tier allows. The tiers are in a JSON file; without -tiers the one built in is used. Nothing leaves the process: the
// upstream is a function in it.
//
//	go run ./examples/tiers
//	go run ./examples/tiers -tiers my-tiers.json -calls 200
package main
