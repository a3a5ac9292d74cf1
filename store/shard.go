package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
)

// ShardHeader is the small record that makes a written shard visible.
type ShardHeader struct {
	ID        uint32 `json:"id"`
	Documents int    `json:"documents"`
	Blocks    int    `json:"blocks"`
	TextBytes int64  `json:"text_bytes"`
	// Commits counts those of a history shard; other shards have none.
	Commits int `json:"commits,omitempty"`
	// Quality is that of the first document; searches visit lower ones first.
	Quality byte `json:"quality"`
	// Crowded says that the shard was ended before its blocks were used up,
	// because its lists or paths take too much memory: joining it with others
	// gains nothing.
	Crowded bool `json:"crowded,omitempty"`
	// Symbols tells of the shard's symbols; nil before they have been written.
	Symbols *SymbolCounts `json:"symbols,omitempty"`
}

// Shard is an immutable, self-contained run of documents, searched as one
// unit. Its tables are read when first used and then kept.
type Shard struct {
	ID     uint32
	Header ShardHeader

	// mu guards loading, tables and checked until loaded is set; they do not
	// change after that.
	mu     sync.Mutex
	loaded bool
	tables shardTables
	// checked has a bit for every chunk whose checksum was found right since
	// the store was opened.
	checked []atomic.Uint64
}

// with returns the shard with another header and what was read of it so far.
func (sh *Shard) with(h ShardHeader) *Shard {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return &Shard{ID: sh.ID, Header: h, loaded: sh.loaded, tables: sh.tables, checked: sh.checked}
}

type shardTables struct {
	docs     *Documents
	docOf    []uint16
	newlines []uint16
	wide     *postings.Set
	widePath *postings.Set
	scan     *postings.Set
	// commits is nil unless it is a history shard.
	commits *Commits
}

// load reads the tables once, through any snapshot that sees the shard. What
// goes wrong is not kept: the disk may answer the next time.
func (sh *Shard) load(r pebble.Reader) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.loaded {
		return nil
	}
	t, err := readTables(r, sh.ID)
	if err == nil && sh.Header.IsHistory() {
		t.commits, err = readCommits(r, sh.ID)
	}
	if err != nil {
		return err
	}
	if c := t.commits; c != nil && (c.Len() != sh.Header.Commits || len(c.Status) != t.docs.Len()) {
		return fmt.Errorf("shard %d: %w: commits and header differ", sh.ID, ErrCorrupt)
	}
	if t.docs.Len() != sh.Header.Documents || len(t.docOf) != sh.Header.Blocks || len(t.newlines) != sh.Header.Blocks {
		return fmt.Errorf("shard %d: %w: tables and header differ", sh.ID, ErrCorrupt)
	}
	chunks := int(t.docs.TextStart[t.docs.Len()])/chunkBytes + 1
	sh.tables, sh.checked, sh.loaded = t, make([]atomic.Uint64, chunks/64+1), true
	return nil
}

func readTables(r pebble.Reader, id uint32) (t shardTables, err error) {
	t.docs = newDocuments()
	if err := readPages(r, id, partDocument, t.docs.addPage); err != nil {
		return t, err
	}
	t.docs.seal()
	t.docOf = t.docs.docOf()
	if t.newlines, err = readNewlines(r, id); err != nil {
		return t, err
	}
	if t.wide, err = readSpecial(r, id, specialWideFold); err != nil {
		return t, err
	}
	if t.scan, err = readSpecial(r, id, specialScanAlways); err != nil {
		return t, err
	}
	t.widePath, err = readSpecial(r, id, specialWidePath)
	return t, err
}

func readCommits(r pebble.Reader, id uint32) (*Commits, error) {
	c := newCommits()
	err := readPages(r, id, partCommit, c.addPage)
	c.known = nil
	return c, err
}

// readPages hands the pages of a table to add, in order.
func readPages(r pebble.Reader, id uint32, part byte, add func(page []byte) error) error {
	prefix := appendShardPart(nil, id, part)
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keyAfter(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		page, err := it.ValueAndErr()
		if err == nil {
			err = add(page)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("shard %d: %w", id, err), it.Close())
		}
	}
	if err := it.Close(); err != nil {
		return fmt.Errorf("shard %d: %w", id, err)
	}
	return nil
}

func readNewlines(r pebble.Reader, id uint32) ([]uint16, error) {
	value, closer, err := r.Get(keyNewlines(id))
	if err != nil {
		return nil, fmt.Errorf("shard %d: newline table: %w", id, err)
	}
	out := make([]uint16, len(value)/2)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(value[2*i:])
	}
	return out, closer.Close()
}

func readSpecial(r pebble.Reader, id uint32, kind byte) (*postings.Set, error) {
	return readSet(r, id, keySpecial(id, kind))
}

// readSet returns nil for a key that is not there.
func readSet(r pebble.Reader, id uint32, key []byte) (*postings.Set, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("shard %d: %w", id, err)
	}
	set := &postings.Set{}
	if err := set.Decode(value); err != nil {
		return nil, errors.Join(fmt.Errorf("shard %d: %w", id, err), closer.Close())
	}
	return set, closer.Close()
}
