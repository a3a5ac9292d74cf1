//go:build race

package bench_test

// raceEnabled says that the race detector slows everything down some tenfold.
const raceEnabled = true
