package shard

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/trawlsearch/trawl/store/disk"
)

// Destination is a store as writers need it. Its functions are safe for concurrent
// use.
type Destination struct {
	// FS and Dir are where runs are written before they are ingested.
	FS      disk.FS
	Dir     string
	Options sstable.WriterOptions
	Budget  *Budget
	// Number returns the number of a new shard.
	Number func() (uint32, error)
	// Written, if set, hears of each run when its file is complete and durable, before
	// it is ingested. Its error gives the run up.
	Written func(ctx context.Context, file LocalFile) error
	// Ingest takes in the run at path, which no reader sees before its shard's header
	// is committed.
	Ingest func(ctx context.Context, path string) error
	// Update calls f with the engine, whatever is committed there.
	Update func(f func(*pebble.DB) error) error
	// Mark commits the symbol counts of a shard.
	Mark func(shard uint32, counts SymbolCounts) error
}
