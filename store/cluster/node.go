package cluster

import (
	"context"
	"encoding/json"
	"time"
)

// Node is one process of a cluster.
type Node struct {
	// ID belongs to one process: a node that starts again draws another.
	ID string
	// Address is where other nodes reach it.
	Address string
	// Started and Seen are when it joined and when it was heard of last, by the clock
	// of the database. The database sets both.
	Started, Seen time.Time
	// Applied is the last version that it has applied.
	Applied Version
	// Reads are the formats that it can read.
	Reads Formats
	// Facts is a small JSON object for people and metrics, such as the size of its disk.
	Facts json.RawMessage
}

// Nodes are the processes of a cluster. It is safe for concurrent use.
type Nodes interface {
	// Join adds a node, or returns a FormatError if it cannot read the records.
	Join(ctx context.Context, node Node) error
	// Beat says that a node is alive, and what has changed about it. It returns ErrGone
	// if the node has not joined, or was forgotten after a day of silence.
	Beat(ctx context.Context, node Node) error
	// Leave removes a node and releases its leases.
	Leave(ctx context.Context, id string) error
	// Nodes returns all that have joined and not left, in the order of their IDs. Those
	// that died stay for a day.
	Nodes(ctx context.Context) ([]Node, error)
	// Format returns the format of the records.
	Format(ctx context.Context) (uint32, error)
	// Raise raises the format of the records, if every node seen within the last minute
	// reads the new one. Otherwise, or if the format is that or newer already, it does
	// nothing. It returns the format of the records. From then on nodes may write
	// records of the new format; those that were written before stay as they are.
	Raise(ctx context.Context, format uint32) (uint32, error)
}
