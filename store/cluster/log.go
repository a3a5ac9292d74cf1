package cluster

import "context"

// Version numbers the states of a shared store, from 1. Version 0 is the store
// without any record.
type Version uint64

// Write sets a small record, or deletes it when Value is nil. An empty value is not
// nil. A key is not empty.
type Write struct{ Key, Value []byte }

// ID tells one attempt to commit from all others. Each commit draws one at random.
type ID [16]byte

// Entry is what made a version.
type Entry struct {
	Version Version
	ID      ID
	Writes  []Write
}

// Formats are the formats of records that a program reads, from the lowest to the
// newest.
type Formats struct{ Lowest, Newest uint32 }

// Read reports whether a format is among them.
func (f Formats) Read(format uint32) bool { return f.Lowest <= format && format <= f.Newest }

// Log is where the versions of a shared store are kept. It is safe for concurrent
// use. Each call ends soon, also when the database does not answer, and its error
// shows no password. Calls that read or append records return a FormatError if the
// records have a format that the program does not read.
type Log interface {
	// Append makes the version after base. Of several writes to a key the last counts.
	//
	// ErrBeaten means that another node made that version, and ErrAhead that base is
	// newer than the log; nothing was changed. ErrUnknown means that it is not known
	// whether the version was made. Only then, and with the same base and ID, it can be
	// appended again: Append returns nil if an earlier attempt has made the version, and
	// ErrUnknown until that is decided. To look at Tail once is not enough, as the
	// transaction may still be running. After any other error nothing was changed.
	Append(ctx context.Context, base Version, id ID, writes []Write) error
	// Head returns the last version. A node calls it to confirm that it is current.
	Head(ctx context.Context) (Version, error)
	// Tail returns the entries after a version, oldest first: at most limit bytes of
	// them, but at least one if there is one. It returns ErrCut if the log does not
	// reach back so far, and the records have to be read instead; and ErrAhead if the
	// log ends before that version.
	Tail(ctx context.Context, after Version, limit int) ([]Entry, error)
	// Records calls each with all records, in the order of their keys, as they are at one
	// version, and returns that version. each may keep the slices. Records that were
	// passed before an error count for nothing: the next call begins again.
	Records(ctx context.Context, each func(key, value []byte) error) (Version, error)
	// Wait returns when a version behind after may be there, and otherwise after a
	// fraction of a second, so that its caller looks. It returns an error only if ctx
	// has ended.
	Wait(ctx context.Context, after Version) error
	// Reserve returns the first of n numbers of shards that nobody else gets. Numbers
	// begin at 1.
	Reserve(ctx context.Context, n uint32) (first uint32, err error)
	// Cut drops the oldest entries. It keeps those that a node seen within the last
	// minute has not applied, and some thousands in any case.
	Cut(ctx context.Context) error
}
