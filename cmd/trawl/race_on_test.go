//go:build race

package main

// raceEnabled says that the race detector slows everything down some tenfold.
const raceEnabled = true
