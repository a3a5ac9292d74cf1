// Package race says whether the race detector looks on, for tests that then ask less
// of what only one goroutine does: it slows everything down some tenfold.
package race
