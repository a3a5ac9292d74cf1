package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// DecodeAway and EncodeAway are for fuzzing.
func DecodeAway(value []byte) ([]*postings.Set, error) { return decodeAway(value) }

// EncodeAway is the opposite.
func EncodeAway(sets []*postings.Set) []byte { return encodeAway(sets) }

// NewShardWriterWith returns a writer that makes posting lists in b, which nothing
// else uses meanwhile.
func (s *Store) NewShardWriterWith(b *postings.Builder) *shard.Writer {
	b.Reset()
	return shard.NewWriter(s.destination, b)
}

// WithShortPauses has a store pause for a millisecond at most when tables cannot be
// written, and write them by the 256 KiB.
func (o Options) WithShortPauses() Options {
	o.longestPause, o.memoryBytes = time.Millisecond, 256<<10
	return o
}

// WithConflicts has an authority refuse a third of the changes, as one that was
// overtaken does; refused counts them.
func (o Options) WithConflicts(source rand.Source) (with Options, refused func() int) {
	c := &contended{rng: rand.New(source)}
	o.authority = func(w *committer) authority {
		c.authority = w
		return c
	}
	return o, func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.refused
	}
}

// contended is an authority that refuses changes for nothing.
type contended struct {
	authority
	mu      sync.Mutex // guards all below
	rng     *rand.Rand
	refused int
}

func (c *contended) commit(base base, reads []keyRange, ops []operation) error {
	c.mu.Lock()
	refuse := c.rng.IntN(3) == 0
	if refuse {
		c.refused++
	}
	c.mu.Unlock()
	if refuse {
		return ErrConflict
	}
	return c.authority.commit(base, reads, ops)
}

// Commit commits a change that was prepared from sn, once: it fails with ErrConflict
// when what it writes has changed since, and with ErrBroken when the store had to be
// opened again since.
func (sn *Snapshot) Commit(c Change) error {
	tx := &Tx{Change: c, sn: sn}
	return tx.commit()
}

// SharedRecords returns all records that the store shares with others, in words.
func (s *Store) SharedRecords() string {
	var b bytes.Buffer
	m := s.committer.versions.hold()
	defer s.committer.versions.release(m)
	err := engine.Each(m.snap, &pebble.IterOptions{UpperBound: []byte{shard.Prefix}}, func(key, value []byte) (bool, error) {
		if isShared(key) {
			fmt.Fprintf(&b, "%q %q\n", key, value)
		}
		return true, nil
	})
	if err != nil {
		return err.Error()
	}
	return b.String()
}

// Follow brings the store to the last version of its log.
func (s *Store) Follow(ctx context.Context) error { return s.node.a.catchUp(ctx) }

// PutRaw puts bytes into a small record, whatever is there then.
func (s *Store) PutRaw(key string, value []byte) error {
	return s.Update(func(tx *Tx) error {
		tx.more = []operation{valueOperation{[]byte(key), value}}
		return nil
	})
}

// WithImportBytes has entries of imports hold about n bytes.
func (o Options) WithImportBytes(n int) Options {
	o.importBytes = n
	return o
}

// ImportOneByOne is Import that stores one run after the other.
func ImportOneByOne(ctx context.Context, dir string, o Options, to ImportTarget) (Imported, error) {
	o.exports = 1
	return Import(ctx, dir, o, to)
}

// Tables returns the files that have keys of a shard and of nothing else, as runs do.
func (s *Store) Tables(id uint32) (names []string) {
	_, e := s.committer.current()
	levels, err := e.DB.SSTables()
	if err != nil {
		panic(err)
	}
	for _, level := range levels {
		for _, t := range level {
			if shard.First(t.Smallest.UserKey) == id && shard.Last(t.Largest.UserKey) == id && !t.Largest.IsExclusiveSentinel() {
				names = append(names, s.fs.PathJoin(index(s.fs, s.dir), fmt.Sprintf("%06d.sst", t.BackingSSTNum)))
			}
		}
	}
	return names
}

// ClearShard removes all that is there of a shard, whose header stays.
func (s *Store) ClearShard(ctx context.Context, id uint32) error {
	return s.destination.Clear(ctx, id, false, false)
}
