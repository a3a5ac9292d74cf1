//go:build race

package cost_test

// slow is how many times longer everything takes under the race detector.
const slow = 20
