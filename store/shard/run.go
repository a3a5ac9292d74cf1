package shard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/object"
)

// Part says which of its runs a shard has been written as.
type Part byte

// The parts.
const (
	// PartText is all that a shard is written with: text, tables and lists.
	PartText Part = 1
	// PartSymbols are the symbols of a shard.
	PartSymbols Part = 2
)

// String returns the name of the part.
func (p Part) String() string {
	switch p {
	case PartText:
		return "text"
	case PartSymbols:
		return "symbols"
	}
	return fmt.Sprintf("Part(%d)", byte(p))
}

// ranges bound the keys of a part of a shard. Symbols lie among the keys of the text
// only where there are none of it.
func (p Part) ranges(shard uint32) [][2][]byte {
	lower, upper := Keys(shard)
	from, to := symbolKeys(shard)
	switch p {
	case PartText:
		return [][2][]byte{{lower, from}, {to, upper}}
	case PartSymbols:
		return [][2][]byte{{from, to}}
	}
	return nil
}

// holds reports whether a key is one of a part of a shard.
func (p Part) holds(shard uint32, key []byte) bool {
	return slices.ContainsFunc(p.ranges(shard), func(r [2][]byte) bool {
		return string(key) >= string(r[0]) && string(key) < string(r[1])
	})
}

// File is a run of a shard as one sorted table, which another store can take in.
type File struct {
	Shard uint32
	Part  Part
	object.Content
}

// LocalFile is a file and where it is.
type LocalFile struct {
	File
	Path string
}

// runWriter writes the file of a run.
type runWriter struct {
	*sstable.Writer
	to   Destination
	file LocalFile
	sum  hash.Hash // nil if nothing needs it
}

// newRun creates the file of a run, which is removed when a store is opened.
func (d Destination) newRun(name string, shard uint32, part Part) (*runWriter, error) {
	return d.newFile(name, shard, part, d.Written != nil)
}

// newFile does the same, and says whether size and hash of the file are wanted.
func (d Destination) newFile(name string, shard uint32, part Part, sum bool) (*runWriter, error) {
	w := &runWriter{to: d, file: LocalFile{File: File{Shard: shard, Part: part}, Path: d.FS.PathJoin(d.Dir, RunPrefix+name)}}
	f, err := d.FS.Create(w.file.Path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	out := objstorageprovider.NewFileWritable(f)
	if sum {
		w.sum = sha256.New()
		out = summed{out, w}
	}
	o := d.Options
	if part == PartSymbols {
		o.BlockSize = symbolBlockBytes
	}
	w.Writer = sstable.NewWriter(out, o)
	return w, nil
}

// Close completes the file.
func (w *runWriter) Close() error {
	err := w.Writer.Close()
	if w.sum != nil {
		w.sum.Sum(w.file.SHA256[:0])
	}
	return err
}

// summed counts and hashes what is written.
type summed struct {
	objstorage.Writable
	w *runWriter
}

// Write implements objstorage.Writable, which may change what it is given.
func (s summed) Write(p []byte) error {
	s.w.file.Size += int64(len(p))
	_, _ = s.w.sum.Write(p) // never fails
	return s.Writable.Write(p)
}

// ingest gives the completed run to the store.
func (w *runWriter) ingest(ctx context.Context) error {
	if w.to.Written != nil {
		if err := w.to.Written(ctx, w.file); err != nil {
			return err
		}
	}
	return w.to.Ingest(ctx, w.file.Path)
}

// remove removes what is left of a run that was not taken in.
func (d Destination) remove(path string) error {
	if err := d.FS.Remove(path); err != nil && !engine.IsNotExist(err) {
		return err
	}
	return nil
}

// Export writes a run of a shard again, as r sees it, to a file that the caller
// removes. Its bytes are those of the run that was ingested if the same program made
// that, which nothing may rely on.
func (d Destination) Export(ctx context.Context, r pebble.Reader, shard uint32, part Part) (_ LocalFile, err error) {
	w, err := d.newFile("export-"+rand.Text(), shard, part, true)
	if err != nil {
		return LocalFile{}, fmt.Errorf("export the %v of shard %d: %w", part, shard, err)
	}
	if err = errors.Join(w.copy(ctx, r), w.Close()); err != nil {
		return LocalFile{}, fmt.Errorf("export the %v of shard %d: %w", part, shard, errors.Join(err, d.remove(w.file.Path)))
	}
	return w.file, nil
}

// copy adds all that r sees of the run.
func (w *runWriter) copy(ctx context.Context, r pebble.Reader) error {
	found := false
	for _, keys := range w.file.Part.ranges(w.file.Shard) {
		err := engine.Each(r, &pebble.IterOptions{LowerBound: keys[0], UpperBound: keys[1]}, func(key, value []byte) (bool, error) {
			found = true
			return true, errors.Join(ctx.Err(), w.Set(key, value))
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%w: nothing of it is there", engine.ErrCorrupt)
	}
	return nil
}

// Import takes in a run that another store has written, in the place of all that is
// there of it. It stays invisible until the header of its shard is committed, and a
// crash leaves it whole or absent. It is Receive and what follows from it.
func (d Destination) Import(ctx context.Context, run File, fill func(io.Writer) error) error {
	f, err := d.Receive(ctx, run, fill)
	if err != nil {
		return err
	}
	if err = d.clear(run); err == nil {
		err = d.Ingest(context.WithoutCancel(ctx), f.Path) // what was there is gone
	}
	if err != nil {
		return fmt.Errorf("import the %v of shard %d: %w", run.Part, run.Shard, errors.Join(err, d.Discard(f)))
	}
	return nil
}

// Receive has a run that another store has written put into a file, which the caller
// takes in or discards. fill writes the file, which may change the bytes it is given;
// what it writes is compared with run before anything else looks at it, and then read
// as a table: every block, and every key, which has to be one of the run. Where run
// comes from has to be trusted, not what fill writes: see engine.CheckRun.
func (d Destination) Receive(ctx context.Context, run File, fill func(io.Writer) error) (LocalFile, error) {
	f := LocalFile{run, d.FS.PathJoin(d.Dir, RunPrefix+"import-"+rand.Text())}
	err := d.receive(f.Path, run, fill)
	if err == nil {
		err = d.check(ctx, f.Path, run)
	}
	if err != nil {
		return LocalFile{}, fmt.Errorf("import the %v of shard %d: %w", run.Part, run.Shard, errors.Join(err, d.Discard(f)))
	}
	return f, nil
}

// Discard removes the file of a run, if it is still there.
func (d Destination) Discard(f LocalFile) error { return d.remove(f.Path) }

// Clear removes all that is there of a shard, which may be damaged. What is there of its
// symbols stays if keepSymbols is set.
//
// If a snapshot may still be searched that sees the shard, seen is set, and it goes on
// seeing it. Its tables stay until the engine rewrites them then, and a look-up next to
// them may meet the damage. Otherwise they leave at once.
func (d Destination) Clear(ctx context.Context, shard uint32, keepSymbols, seen bool) error {
	from, to := Keys(shard)
	ranges := [][2][]byte{{from, to}} // one, so that the engine lets go of whole tables
	if keepSymbols {
		ranges = PartText.ranges(shard)
	}
	return d.Update(func(db *pebble.DB) error {
		for _, keys := range ranges {
			if !seen && db.Excise(ctx, pebble.KeyRange{Start: keys[0], End: keys[1]}) == nil {
				continue // it fails where a damaged table has keys of other shards
			}
			if err := db.DeleteRange(keys[0], keys[1], pebble.Sync); err != nil {
				return fmt.Errorf("clear shard %d: %w", shard, err)
			}
		}
		return nil
	})
}

// receive has the file of a run written, and makes it durable.
func (d Destination) receive(path string, run File, fill func(io.Writer) error) error {
	f, err := d.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	check := run.Check()
	err = fill(io.MultiWriter(check, f))
	if err == nil {
		err = check.Err()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// check reads all of a run in a file.
func (d Destination) check(ctx context.Context, path string, run File) error {
	ranges := run.Part.ranges(run.Shard)
	if ranges == nil || run.Shard == 0 {
		return fmt.Errorf("%w: there is no such run", engine.ErrCorrupt)
	}
	found := false
	err := engine.CheckRun(ctx, d.FS, path, d.Options, func(key []byte) error {
		found = true
		if !run.Part.holds(run.Shard, key) {
			return fmt.Errorf("%w: key %x is not one of it", engine.ErrCorrupt, key)
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: nothing is in it", engine.ErrCorrupt)
	}
	return err
}

// clear removes what is there of a run.
func (d Destination) clear(run File) error {
	return d.Update(func(db *pebble.DB) error {
		for _, keys := range run.Part.ranges(run.Shard) {
			if key, err := firstKey(db, keys[0], keys[1]); err != nil || key == nil {
				if err != nil {
					return err
				}
				continue
			}
			if err := db.DeleteRange(keys[0], keys[1], pebble.Sync); err != nil {
				return err
			}
		}
		return nil
	})
}
