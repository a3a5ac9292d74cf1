package store

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// The errors that callers distinguish.
var (
	// ErrNotFound: there is no such repository.
	ErrNotFound = errors.New("not found")
	// ErrExists: a repository of that name is there already.
	ErrExists = errors.New("already exists")
	// ErrConflict: what a change was prepared from has changed. Nothing was written.
	ErrConflict = errors.New("overtaken by another change")
	// ErrCorrupt: a record or text is corrupt.
	ErrCorrupt = engine.ErrCorrupt
	// ErrDamagedLog: the engine's manifest is damaged.
	ErrDamagedLog = engine.ErrDamagedLog
	// ErrDiskFull: nothing was written, for want of disk.
	ErrDiskFull = errors.New("disk is full")
	// ErrBroken: the engine could not write. Earlier commits are still served,
	// and the store takes changes again once the disk does.
	ErrBroken = engine.ErrBroken
	// ErrAway: the log that the store shares with other nodes does not answer, so it is
	// not known whether the store is current.
	ErrAway = errors.New("the database of the cluster does not answer")
	// ErrLocked: another process has the data directory open.
	ErrLocked = engine.ErrLocked
)

// FormatError is a data directory whose format this program does not serve.
type FormatError struct {
	// Found is the directory's format version, Known the newest this program
	// reads.
	Found, Known FormatVersion
}

// Older reports whether the directory can be migrated.
func (e *FormatError) Older() bool { return e.Found < e.Known }

func (e *FormatError) Error() string {
	if e.Older() {
		return fmt.Sprintf("data directory has format version %d, this program serves %d: run trawl migrate", e.Found, e.Known)
	}
	return fmt.Sprintf("data directory has format version %d, this program reads up to %d: use a newer trawl or another --data",
		e.Found, e.Known)
}

// IndexError is a shard whose index is laid out in a way that this program does
// not read.
type IndexError struct {
	Shard uint32
	// Found is the version of the shard's index, Known the newest this program
	// reads.
	Found, Known shard.IndexVersion
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("shard %d has index version %d, this program reads up to %d: use a newer trawl or another --data",
		e.Shard, e.Found, e.Known)
}
