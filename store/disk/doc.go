// Package disk is the file system that data directories and backups are on. Bytes
// come in, and stay after a crash: files that are whole or absent, directories whose
// names are durable, for their owner only. It knows nothing of what the files are.
package disk
