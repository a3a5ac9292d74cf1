package shard

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/object"
)

// Header is the small record that makes a written shard visible.
type Header struct {
	ID        uint32 `json:"id"`
	Documents int    `json:"documents"`
	Blocks    int    `json:"blocks"`
	TextBytes int64  `json:"text_bytes"`
	// Commits counts those of a history shard; other shards have none.
	Commits int `json:"commits,omitempty"`
	// Quality is that of the first document; searches visit lower ones first.
	Quality byte `json:"quality"`
	// Full says that the shard was ended before its blocks were used up,
	// because its lists or paths take too much memory: joining it with others
	// gains nothing.
	Full bool `json:"crowded,omitempty"`
	// Index is the layout of what stands in the shard.
	Index IndexVersion `json:"index"`
	// Reasons counts the documents by Reason, up to the last that there is. It is nil if
	// an older program wrote the shard.
	Reasons []int `json:"reasons,omitempty"`
	// Symbols has the counts of the shard's symbols; nil before they have been
	// written.
	Symbols *SymbolCounts `json:"symbols,omitempty"`
	// TextFile and SymbolFile are what other nodes take the runs of the shard from;
	// nil in a store that is not shared, and for a run that there is not.
	TextFile   *object.Content `json:"text_file,omitempty"`
	SymbolFile *object.Content `json:"symbol_file,omitempty"`
}

// Files returns the files of the shard's runs.
func (h *Header) Files() []File {
	var out []File
	if h.TextFile != nil {
		out = append(out, File{h.ID, PartText, *h.TextFile})
	}
	if h.SymbolFile != nil {
		out = append(out, File{h.ID, PartSymbols, *h.SymbolFile})
	}
	return out
}

// IsHistory reports whether the shard's documents are those of commits.
func (h *Header) IsHistory() bool { return h.Commits > 0 }

// Shard is an immutable, self-contained run of documents, searched as one
// unit. Its tables are read when they are used and kept as long as the cache
// holds them.
type Shard struct {
	ID     uint32
	Header Header

	memory *shardMemory
}

// shardMemory is the cached state of a shard, whatever its header says.
type shardMemory struct {
	// loading is held while tables are read; nothing else needs it.
	loading sync.Mutex
	tables  atomic.Pointer[shardTables]
	sets    atomic.Pointer[listSets]
}

// New returns a shard of which nothing was read yet.
func New(id uint32, h Header) *Shard {
	return &Shard{ID: id, Header: h, memory: &shardMemory{}}
}

// With returns the shard with another header and what was read of it so far.
func (sh *Shard) With(h Header) *Shard {
	return &Shard{ID: sh.ID, Header: h, memory: sh.memory}
}

// listSets are what posting lists do not say: the blocks, and for paths the documents,
// in which something may be found all the same. A search needs no more than these and
// the lists to know that a shard has nothing. nil is an empty set.
type listSets struct {
	cached
	wide, widePath, scan *postings.Set
}

// shardTables are the tables of a shard that a search needs which finds something
// there. They do not change, except for their cached chunks.
type shardTables struct {
	cached
	sets     *listSets
	docs     *Documents
	docOf    []uint16
	newlines []uint16
	// commits is nil unless it is a history shard.
	commits *Commits

	// checked has a bit for every chunk whose checksum was found right, chunks
	// the text of the cached ones. offered says when others were offered to the
	// cache.
	checked []atomic.Uint64
	chunks  []atomic.Pointer[cachedChunk]
	offered []sighting
}

// load returns the tables, and reads them first, through any snapshot that sees
// the shard, if they are not in memory. An error is not kept: the disk may
// answer the next time.
func (sh *Shard) load(r pebble.Reader, k *cache) (*shardTables, error) {
	if t := sh.memory.tables.Load(); t != nil {
		t.touch()
		return t, nil
	}
	sh.memory.loading.Lock()
	defer sh.memory.loading.Unlock()
	if t := sh.memory.tables.Load(); t != nil {
		return t, nil
	}
	t, err := readTables(r, sh.ID)
	if err == nil {
		t.sets, err = sh.loadSets(r, k)
	}
	if err == nil && sh.Header.IsHistory() {
		t.commits, err = readCommits(r, sh.ID)
	}
	if err == nil {
		err = t.agree(&sh.Header)
	}
	if err != nil {
		return nil, inShard(sh.ID, err)
	}
	chunks := int(t.docs.TextStart[t.docs.Len()])/chunkBytes + 1
	t.checked, t.chunks = make([]atomic.Uint64, chunks/64+1), make([]atomic.Pointer[cachedChunk], chunks)
	t.offered = make([]sighting, chunks)
	memory := sh.memory
	t.bytes, t.drop = t.size(), func() { memory.tables.CompareAndSwap(t, nil) }
	memory.tables.Store(t)
	if !k.add(&t.cached) {
		t.drop()
	}
	return t, nil
}

// loadSets returns the sets beside the lists as load does the tables.
func (sh *Shard) loadSets(r pebble.Reader, k *cache) (*listSets, error) {
	if s := sh.memory.sets.Load(); s != nil {
		s.touch()
		return s, nil
	}
	s, err := readSets(r, sh.ID)
	if err != nil {
		return nil, inShard(sh.ID, err)
	}
	memory := sh.memory
	s.bytes = setsBytes + int64(s.wide.Bytes()+s.widePath.Bytes()+s.scan.Bytes())
	s.drop = func() { memory.sets.CompareAndSwap(s, nil) }
	// Of two readers that come at a time one's are kept.
	if memory.sets.CompareAndSwap(nil, s) && !k.add(&s.cached) {
		s.drop()
	}
	return s, nil
}

// setsBytes is about what sets take that are empty.
const setsBytes = 256

// agree compares the tables with what the header says of them.
func (t *shardTables) agree(h *Header) error {
	if c := t.commits; c != nil && (c.Len() != h.Commits || len(c.Status) != t.docs.Len()) {
		return fmt.Errorf("%w: commits and header differ", engine.ErrCorrupt)
	}
	if t.docs.Len() != h.Documents || len(t.docOf) != h.Blocks || len(t.newlines) != h.Blocks {
		return fmt.Errorf("%w: tables and header differ", engine.ErrCorrupt)
	}
	if h.Reasons != nil && !slices.Equal(h.Reasons, countReasons(slices.Values(t.docs.Reason))) {
		return fmt.Errorf("%w: documents without text and header differ", engine.ErrCorrupt)
	}
	return nil
}

// size is about what the tables take in memory.
func (t *shardTables) size() int64 {
	n := t.docs.bytes() + 2*len(t.docOf) + 2*len(t.newlines) + 8*len(t.checked) + 8*len(t.chunks) + 4*len(t.offered)
	if t.commits != nil {
		n += t.commits.bytes()
	}
	return int64(n)
}

func readTables(r pebble.Reader, id uint32) (t *shardTables, err error) {
	t = &shardTables{docs: newDocuments()}
	if err := readPages(r, id, partDocument, t.docs.addPage); err != nil {
		return t, err
	}
	t.docs.seal()
	t.docOf = t.docs.docOf()
	t.newlines, err = readNewlines(r, id)
	return t, err
}

// readSets fails if nothing of the shard is there.
func readSets(r pebble.Reader, id uint32) (s *listSets, err error) {
	s = &listSets{}
	if s.wide, err = readSpecial(r, id, specialWideFold); err != nil {
		return nil, err
	}
	if s.scan, err = readSpecial(r, id, specialScanAlways); err != nil {
		return nil, err
	}
	if s.widePath, err = readSpecial(r, id, specialWidePath); err == nil && s.widePath == nil {
		_, err = readNewlines(r, id) // which every shard has
	}
	return s, err
}

func readCommits(r pebble.Reader, id uint32) (*Commits, error) {
	c := newCommits()
	err := readPages(r, id, partCommit, c.addPage)
	c.known = nil
	return c, err
}

// readPages hands the pages of a table to add, in order.
func readPages(r pebble.Reader, id uint32, part byte, add func(page []byte) error) error {
	return engine.Each(r, engine.Prefix(appendShardPart(nil, id, part)), func(_, page []byte) (bool, error) { return true, add(page) })
}

func readNewlines(r pebble.Reader, id uint32) (out []uint16, err error) {
	found, err := engine.Get(r, keyNewlines(id), func(value []byte) error {
		out = make([]uint16, len(value)/2)
		for i := range out {
			out[i] = binary.LittleEndian.Uint16(value[2*i:])
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: it is missing", engine.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("newline table: %w", err)
	}
	return out, nil
}

func readSpecial(r pebble.Reader, id uint32, kind byte) (*postings.Set, error) {
	return readSet(r, keySpecial(id, kind))
}

// readSet returns nil for a key that is not there.
func readSet(r pebble.Reader, key []byte) (set *postings.Set, err error) {
	_, err = engine.Get(r, key, func(value []byte) error {
		set = &postings.Set{}
		return set.Decode(value)
	})
	return set, err
}
