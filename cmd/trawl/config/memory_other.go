//go:build !linux

package config

// memoryBytes returns 0: the machine's memory is not known here, so the
// setting has a fixed default.
func memoryBytes() int64 { return 0 }
