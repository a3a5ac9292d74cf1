//go:build cgo

package engine

// Foreign says that the engine's cache lies outside the memory of Go's runtime,
// in that of C.
const Foreign = true
