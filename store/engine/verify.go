package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
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

func (e *Engine) verifyTable(ctx context.Context, file string, o sstable.ReaderOptions) error {
	return readTable(ctx, e.options.FS, e.options.FS.PathJoin(e.dir, file), o, (*sstable.Reader).ValidateBlockChecksums)
}

// readTable calls f with a reader of the table at path.
func readTable(ctx context.Context, fs vfs.FS, path string, o sstable.ReaderOptions, f func(*sstable.Reader) error) (err error) {
	file, err := fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	in, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	r, err := sstable.NewReader(ctx, in, o)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return f(r)
}

// CheckRun reads all of a table that another process wrote with options o, and calls
// key with each key, in order. It fails unless each block has its checksum, and the
// table has nothing but values of keys that ascend.
//
// The caller has compared the file with a hash that it trusts. The library decodes
// blocks without looking at bounds, so a table that was made to do harm, checksums
// included, can do it here.
func CheckRun(ctx context.Context, fs vfs.FS, path string, o sstable.WriterOptions, key func(key []byte) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the table cannot be read: %v", ErrCorrupt, p)
		}
	}()
	read := sstable.ReaderOptions{Comparer: o.Comparer, KeySchemas: sstable.MakeKeySchemas(o.KeySchema)}
	return readTable(ctx, fs, path, read, func(r *sstable.Reader) error {
		format, err := r.TableFormat()
		if err != nil {
			return err
		}
		if format != o.TableFormat || r.Attributes&^(sstable.AttributePointKeys|sstable.AttributeTwoLevelIndex) != 0 {
			return fmt.Errorf("%w: it is a table of format %v with %v", ErrCorrupt, format, r.Attributes)
		}
		return eachKey(ctx, r, key)
	})
}

func eachKey(ctx context.Context, r *sstable.Reader, f func(key []byte) error) (err error) {
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var last []byte
	for kv := it.First(); kv != nil; kv = it.Next() {
		key := kv.K.UserKey
		if kv.K.Kind() != pebble.InternalKeyKindSet || kv.K.SeqNum() != 0 {
			return fmt.Errorf("%w: key %x is not just set", ErrCorrupt, key)
		}
		if last != nil && bytes.Compare(key, last) <= 0 {
			return fmt.Errorf("%w: key %x is behind %x", ErrCorrupt, key, last)
		}
		last = append(last[:0], key...)
		if err := errors.Join(ctx.Err(), f(key)); err != nil {
			return err
		}
	}
	return it.Error()
}
