//go:build !unix

package main

// keepPrivate does nothing where there is no umask.
func keepPrivate() {}
