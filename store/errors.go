package store

import (
	"errors"
	"fmt"
)

// Errors callers tell apart.
var (
	// ErrNotFound: there is no such repository.
	ErrNotFound = errors.New("not found")
	// ErrExists: a repository of that name is there already.
	ErrExists = errors.New("already exists")
	// ErrCorrupt: a record or text is not what was written.
	ErrCorrupt = errors.New("corrupt")
	// ErrDiskFull: nothing was written, for want of disk.
	ErrDiskFull = errors.New("disk is full")
	// ErrBroken: the engine could not write. What was committed before is still
	// served, and the store takes changes again once the disk does.
	ErrBroken = errors.New("nothing can be written for now")
	// ErrLocked: another process has the data directory open.
	ErrLocked = errors.New("data directory is in use by another process")
)

// FormatError is a data directory whose format this program does not read.
type FormatError struct {
	// Found is the directory's format version, Known the newest this program
	// reads.
	Found, Known FormatVersion
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("data directory has format version %d, this program reads up to %d: use a newer trawl or another --data",
		e.Found, e.Known)
}
