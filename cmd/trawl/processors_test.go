package main

import (
	"runtime"
	"testing"
)

// TestSparesProcessors: some processors are spare for new requests while all
// searches work, however often a server starts in one process.
func TestSparesProcessors(t *testing.T) {
	n := processors()
	if again := processors(); again != n {
		t.Errorf("there are %d processors to search with, and then %d", n, again)
	}
	if used := runtime.GOMAXPROCS(0); used != n+spareProcessors {
		t.Errorf("Go uses %d processors, want %d more than the %d to search with", used, spareProcessors, n)
	}
}
