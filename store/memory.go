package store

import (
	"bytes"
	"sync/atomic"

	"github.com/trawlsearch/trawl/postings"
)

// MemoryShard gathers documents that are in no store, to be searched as a shard
// is. It has no posting lists and no symbols: whoever plans with its View has to
// take every block for a candidate. It is not safe for concurrent use.
type MemoryShard struct {
	docs     []Document
	text     []byte
	newlines []uint16
}

// Add adds a document with its searchable text, which is copied. Not more than
// postings.MaxBlocks blocks fit.
func (m *MemoryShard) Add(d Document, text []byte) {
	d.TextBytes = uint32(len(text))
	m.docs = append(m.docs, d)
	m.text = append(m.text, text...)
	m.newlines = appendNewlines(m.newlines, text)
}

// appendNewlines counts the newlines of each block of text.
func appendNewlines(dst []uint16, text []byte) []uint16 {
	for i := range postings.BlockCount(len(text)) {
		b := text[min(i*postings.BlockBytes, len(text)):min((i+1)*postings.BlockBytes, len(text))]
		dst = append(dst, uint16(bytes.Count(b, []byte{'\n'})))
	}
	return dst
}

// Len returns the number of documents.
func (m *MemoryShard) Len() int { return len(m.docs) }

// Bytes returns the size of their text.
func (m *MemoryShard) Bytes() int { return len(m.text) }

// Blocks returns how many blocks the documents have.
func (m *MemoryShard) Blocks() int { return len(m.newlines) }

// View returns the shard, numbered 0 as no shard of a store is. It owns what
// was added; the MemoryShard is empty afterwards.
func (m *MemoryShard) View() (View, error) {
	t := &shardTables{docs: newDocuments(), newlines: m.newlines}
	for docs := m.docs; len(docs) > 0; {
		n := pageLength(docs)
		if err := t.docs.addPage(encodePage(docs[:n])); err != nil {
			return View{}, err
		}
		docs = docs[n:]
	}
	t.docs.seal()
	t.docOf = t.docs.docOf()
	v := View{
		Shard:  newShard(0, ShardHeader{Documents: len(m.docs), Blocks: len(m.newlines), TextBytes: int64(len(m.text))}),
		pin:    &atomic.Pointer[shardTables]{},
		memory: m.text,
	}
	v.pin.Store(t)
	*m = MemoryShard{}
	return v, nil
}

// InMemory reports whether the shard is of a MemoryShard.
func (v View) InMemory() bool { return v.src == nil }
