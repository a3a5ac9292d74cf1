// Package spool buffers answers to slow clients in files. The bytes that git
// writes come in as fast as the disk takes them, so that git ends; they go out
// as fast as the client reads. The package does not interpret them.
//
// The files are temporary: they have no name once they are opened, where the
// system allows that, and so end with the process. Together they are bounded,
// and each client has its share of that.
package spool
