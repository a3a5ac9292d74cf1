//go:build unix

package main

import "syscall"

// keepPrivate has the process and its children make files for the account alone.
// The packages that write do so by themselves; this is for those of others.
func keepPrivate() { syscall.Umask(0o077) }
