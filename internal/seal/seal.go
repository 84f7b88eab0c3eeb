// Package seal closes interfaces that may still change: whoever cannot name Seal cannot implement them.
package seal

// Seal is the argument of the method that seals an interface.
type Seal struct{}
