package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Verify reads every block of the tables from disk and compares it with its
// checksum. fault is called for each damaged table. After such a table the
// cache is emptied, so that the next reader detects the damage. read is called
// with the bytes read so far; the error is that of ctx or pause, which is
// called between tables.
func (e *Engine) Verify(ctx context.Context, read func(bytes int64), pause func(context.Context) error, fault func(file, problem string)) error {
	levels, err := e.DB.SSTables()
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	options := e.pebbleOptions().MakeReaderOptions()
	seen, damaged := map[string]bool{}, false
	for _, level := range levels {
		for _, t := range level {
			file := fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum))
			if seen[file] {
				continue
			}
			seen[file] = true
			if err := e.verifyTable(ctx, file, options); err != nil && !IsNotExist(err) { // it was rewritten meanwhile
				damaged = true
				fault(file, Message(err))
			}
			read(int64(t.Size))
			if err := errors.Join(ctx.Err(), pause(ctx)); err != nil {
				return err
			}
		}
	}
	if damaged {
		e.options.Cache.Reserve(int(e.options.Cache.MaxSize()))()
	}
	return nil
}

// TableBytes returns the size of what Verify reads.
func (e *Engine) TableBytes() int64 {
	m := e.DB.Metrics()
	total := int64(0)
	for i := range m.Levels {
		total += m.Levels[i].TablesSize
	}
	return total
}

func (e *Engine) verifyTable(ctx context.Context, file string, o sstable.ReaderOptions) (err error) {
	f, err := e.options.FS.Open(e.options.FS.PathJoin(e.dir, file), vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	in, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(ctx, in, o)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.ValidateBlockChecksums()
}
