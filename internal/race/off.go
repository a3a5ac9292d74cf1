//go:build !race

package race

// Enabled says that this binary has the race detector.
const Enabled = false
