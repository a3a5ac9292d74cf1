//go:build !race

package cost_test

const slow = 1
