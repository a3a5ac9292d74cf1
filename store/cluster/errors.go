package cluster

import (
	"errors"
	"fmt"
)

// Errors of a Log. Implementations may wrap them.
var (
	// ErrBeaten means that another node made the version first. Nothing was changed.
	ErrBeaten = errors.New("another node made this version first")
	// ErrUnknown means that the database did not answer, so an entry may be there or
	// not, or may come to be there while its transaction is still running.
	ErrUnknown = errors.New("it is not known whether the version was made")
	// ErrCut means that the log does not reach back to a version.
	ErrCut = errors.New("the log does not reach back so far")
	// ErrAhead means that a version is newer than the newest of the log. The database
	// has lost versions, for instance because an older backup of it was restored.
	ErrAhead = errors.New("the database is older than this version")
)

// ErrGone means that a node is not, or no longer, among the nodes. It has to join
// again.
var ErrGone = errors.New("node is not a member of the cluster")

// FormatError is returned to a program that cannot read the records of the store.
type FormatError struct {
	// Records is the format of the records.
	Records uint32
	// Reads is what the program can read.
	Reads Formats
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("records have format %d, and this program reads %d to %d", e.Records, e.Reads.Lowest, e.Reads.Newest)
}
