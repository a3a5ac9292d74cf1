package shard

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
)

// Budget is the memory that the shards of a store take: caches of a fixed size, a
// part of which writers borrow, and the texts that readers hold in one piece. It is
// safe for concurrent use.
type Budget struct {
	// cache holds text and tables of shards, blocks is the engine's.
	cache     *cache
	blocks    *pebble.Cache
	large     *largeTexts
	listBytes int64
	chunks    buffers[[chunkBytes]byte]
	pairs     buffers[[pairBytes]byte]
	tables    postings.Tables
}

// NewBudget returns a budget for all caches, for the posting lists of a shard that
// is written, and for large texts.
func NewBudget(cacheBytes, listBytes, largeBytes int64) *Budget {
	blocks := blockShare(cacheBytes)
	return &Budget{
		cache: &cache{most: cacheBytes - blocks}, blocks: pebble.NewCache(blocks), large: newLargeTexts(largeBytes), listBytes: listBytes,
		tables: postings.Tables{Most: int(cacheBytes / cacheBytesPerTable)},
	}
}

// cacheBytesPerTable is how large the caches are for each table of trigrams, 64 MiB, that
// writers may have beside the first. While a server indexes thousands of repositories
// with symbols and commits, four writers have one.
const cacheBytesPerTable = 256 << 20

// blockShare returns how much of the memory for caches is the engine's, three
// eighths. It keeps posting lists and packed text.
func blockShare(cacheBytes int64) int64 { return cacheBytes * 3 / 8 }

// ForeignBytes returns how much of the caches lies outside the memory of Go's
// runtime.
func ForeignBytes(cacheBytes int64) int64 {
	if !engine.Foreign {
		return 0
	}
	return blockShare(cacheBytes)
}

// Blocks returns the engine's cache.
func (b *Budget) Blocks() *pebble.Cache { return b.blocks }

// Used returns the present size of the cache of shards and of large texts.
func (b *Budget) Used() (cache, texts int64) { return b.cache.size(), b.large.held.Load() }

// NewBuilder returns a builder of posting lists for writers of shards, and for those who
// compare their lists. Release it for the next one.
func (b *Budget) NewBuilder() *postings.Builder { return b.tables.NewBuilder() }

// restBytes is the size of the engine's cache while the server is idle: the
// posting lists and texts that were read most often, so that the next search
// finds some in memory.
const restBytes = 32 << 20

// Rest drops most of what is kept of shards in memory, and the table that builders
// left, for a time without searches and syncs.
func (b *Budget) Rest() {
	b.tables.Drop()
	b.cache.trim()
	if n := b.blocks.MaxSize() - restBytes; n > 0 {
		b.blocks.Reserve(int(n))()
	}
}

// Borrow makes the caches smaller by so many bytes for a while, and returns what
// gives them back.
func (b *Budget) Borrow(bytes int64) (giveBack func()) {
	blocks := blockShare(bytes)
	release := b.blocks.Reserve(int(blocks))
	b.cache.resize(blocks - bytes)
	return sync.OnceFunc(func() {
		release()
		b.cache.resize(bytes - blocks)
	})
}

// ReserveText waits until so many bytes of text that come from elsewhere may be
// held beside the large texts of shards. It returns what releases them. Up to a
// megabyte needs no reservation. The error is ErrNotReserved, once done is closed.
func (b *Budget) ReserveText(bytes int64, done <-chan struct{}) (release func(), err error) {
	if bytes <= LargeTextBytes {
		return func() {}, nil
	}
	if !b.large.reserve(bytes, done, nil) {
		return nil, ErrNotReserved
	}
	return func() { b.large.release(bytes) }, nil
}

// TextLimit returns how many bytes large texts may take together.
func (b *Budget) TextLimit() int64 { return b.large.most }
