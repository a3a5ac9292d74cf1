package shard

import (
	"bytes"
	"sync/atomic"

	"github.com/trawlsearch/trawl/postings"
)

// Memory gathers documents that are in no store, to be searched as a shard
// is. It has no posting lists and no symbols: a plan for its View takes every block
// for a candidate. It is not safe for concurrent use.
type Memory struct {
	docs     []Document
	text     []byte
	newlines []uint16
}

// Add adds a document with its searchable text, which is copied. Not more than
// postings.MaxBlocks blocks fit.
func (m *Memory) Add(d Document, text []byte) {
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
func (m *Memory) Len() int { return len(m.docs) }

// Bytes returns the size of their text.
func (m *Memory) Bytes() int { return len(m.text) }

// View returns the shard, numbered 0 as no shard of a store is. It owns what
// was added; the Memory is empty afterwards.
func (m *Memory) View() (View, error) {
	t := &shardTables{docs: newDocuments(), newlines: m.newlines, sets: &listSets{}}
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
		Shard:  New(0, Header{Documents: len(m.docs), Blocks: len(m.newlines), TextBytes: int64(len(m.text))}),
		pin:    &atomic.Pointer[shardTables]{},
		memory: m.text,
	}
	v.pin.Store(t)
	*m = Memory{}
	return v, nil
}

// InMemory reports whether the shard is of a Memory.
func (v View) InMemory() bool { return v.src == nil }
