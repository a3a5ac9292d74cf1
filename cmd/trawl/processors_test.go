package main

import (
	"runtime"
	"testing"
)

// TestSparesAProcessor: one processor is spare for new requests while all
// searches work, however often a server starts in one process.
func TestSparesAProcessor(t *testing.T) {
	n := processors()
	if again := processors(); again != n {
		t.Errorf("there are %d processors to search with, and then %d", n, again)
	}
	if used := runtime.GOMAXPROCS(0); used != n+1 {
		t.Errorf("Go uses %d processors, want one more than the %d to search with", used, n)
	}
}
