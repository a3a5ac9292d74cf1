package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// Old is a data directory of an older format, opened for package migrations.
// Nothing can be searched in it. It is not safe for concurrent use.
type Old struct {
	// s has an open engine.
	s       *Store
	version FormatVersion
}

// oldCacheBytes are the caches while a store is migrated, which reads every
// record once.
const oldCacheBytes = 16 << 20

// OpenOld opens the store in dir, which is there and may have any format that
// this program knows. It fails with ErrLocked when another process has it open.
// With Options.ReadOnly nothing in the directory changes.
func OpenOld(dir string, o Options) (*Old, error) {
	o = o.withDefaults()
	o.CacheBytes = oldCacheBytes
	lock, err := engine.Lock(o.FS, index(o.FS, dir))
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	old := &Old{s: &Store{fs: o.FS, dir: dir, lock: lock, options: o}}
	if err := old.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %q: %w", dir, err), lock.Close())
	}
	return old, nil
}

// open reads the version with the lock held, so that no other process changes
// it. The catalogue is read as well, with all shards of an older format
// quarantined, and is not used.
func (o *Old) open() (err error) {
	if o.version, err = knownFormat(o.s.fs, o.s.dir); err != nil {
		return err
	}
	if o.version == 0 {
		return fmt.Errorf("%w: there is no store", ErrNotFound)
	}
	return o.s.openFiles(o.version)
}

// Version returns the format version of the store.
func (o *Old) Version() FormatVersion { return o.version }

// Close releases everything.
func (o *Old) Close() error { return o.s.Close() }

// Finish records that the store has the format v from now on, on disk.
func (o *Old) Finish(v FormatVersion) error {
	if err := writeFormat(o.s.fs, o.s.dir, v); err != nil {
		return err
	}
	o.version = v
	return nil
}

// OldShards counts the shards of an old store: all of them, those whose header
// has no index version, and those whose index will be rewritten, with the text
// in these.
type OldShards struct {
	All, Unnumbered, Outdated int
	OutdatedBytes             int64
}

// Shards counts the shards.
func (o *Old) Shards() (n OldShards, err error) {
	err = o.eachHeader(func(_, value []byte, h map[string]json.RawMessage) (bool, error) {
		if !numbered(h) {
			n.Unnumbered++
		}
		var v shard.Header
		if err := json.Unmarshal(numberHeader(value, h), &v); err != nil {
			return true, nil // damaged, to be quarantined
		}
		n.All++
		if v.Outdated() {
			n.Outdated++
			n.OutdatedBytes += v.TextBytes
		}
		return true, nil
	})
	return n, err
}

// NumberShards gives index versions to the headers of at most most shards that
// have none, in one batch that is on disk when it returns. It returns their
// number; 0 means that none is left. The header itself says whether it is done.
// So the work goes on correctly after an interruption, even if an older program
// ran in between.
func (o *Old) NumberShards(ctx context.Context, most int) (int, error) {
	// What an engine that fails has in memory may not be on disk.
	if err := o.s.committer.ready(); err != nil {
		return 0, err
	}
	var ops []operation
	err := o.eachHeader(func(key, value []byte, h map[string]json.RawMessage) (bool, error) {
		if numbered(h) {
			return true, nil
		}
		if len(ops) == most {
			return false, nil
		}
		ops = append(ops, valueOperation{slices.Clone(key), slices.Clone(numberHeader(value, h))})
		return true, ctx.Err()
	})
	if err != nil || len(ops) == 0 {
		return 0, err
	}
	return len(ops), o.s.committer.commitHere(ops)
}

// eachHeader calls f with the headers of shards until it returns false. It
// leaves out damaged headers, whose shards are quarantined when the store is
// opened.
func (o *Old) eachHeader(f func(key, value []byte, h map[string]json.RawMessage) (more bool, err error)) error {
	_, e := o.s.committer.current()
	return engine.Each(e.DB, engine.Prefix([]byte{prefixHeader}), func(key, value []byte) (bool, error) {
		h := map[string]json.RawMessage{}
		if json.Unmarshal(value, &h) != nil || h == nil {
			return true, nil
		}
		return f(key, value, h)
	})
}

// numbered reports whether a header has an index version.
func numbered(header map[string]json.RawMessage) bool { return header["index"] != nil }

// numberHeader returns a header of FormatBlocks as FormatNumbered has it, and
// others as they are. In place of a number, "exact" said whether there are lists
// of upper-case letters. What else it holds stays.
func numberHeader(value []byte, header map[string]json.RawMessage) []byte {
	if numbered(header) {
		return value
	}
	v := shard.IndexFoldedLists
	if string(header["exact"]) == "true" {
		v = shard.IndexExactLists
	}
	out := maps.Clone(header)
	delete(out, "exact")
	out["index"] = json.RawMessage(strconv.Itoa(int(v)))
	raw, err := json.Marshal(out)
	if err != nil {
		panic("store: a header that was decoded cannot be encoded: " + err.Error())
	}
	return raw
}
