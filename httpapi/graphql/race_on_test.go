//go:build race

package graphql_test

// slow is how many times longer everything takes under the race detector.
const slow = 20
