package main

// writeReport writes -report.
func (b *batch) writeReport() error { return nil }
