package shard

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/engine"
)

// Verifying are the options and callbacks of a verification. Its functions are
// called from the caller's goroutine.
type Verifying struct {
	// Quick leaves out what is made anew from the text to be compared: posting
	// lists and the sets beside them.
	Quick bool
	// Builder makes the posting lists; nil is a new one, whose table takes 64 MB.
	Builder *postings.Builder
	// Fault hears in words what is wrong; "text", "documents", "lists",
	// "symbols", "commits" or "header" is where.
	Fault func(where, problem string)
	// Read hears how many bytes of text, or lists, have been gone over.
	Read func(bytes int)
	// Pause is called every megabyte or so, to let others go first; an error of
	// it ends the work.
	Pause func(context.Context) error
}

// verifier verifies one shard: each chunk of text, each document against the ID
// of its blob where the text is the file's, and the newlines of each block. It
// makes all posting lists again from the text and compares them. It holds what
// a writer of the shard held in memory.
type verifier struct {
	Verifying
	ctx     context.Context
	v       View
	t       *shardTables
	builder *postings.Builder
	wide    postings.Set
	unread  int
}

// Verify reads all of a shard, through the engine and no cache of its own, and
// reports its faults, among them parts that cannot be read. Its error is that
// of ctx or Pause.
func (v View) Verify(ctx context.Context, how Verifying) error {
	w := &verifier{Verifying: how, ctx: ctx, v: v}
	if !how.Quick {
		defer v.src.Borrow(v.src.listBytes)()
		if w.builder = how.Builder; w.builder == nil {
			w.builder = postings.NewBuilder()
		}
		w.builder.Reset()
	}
	if !w.tables() {
		return ctx.Err()
	}
	// Every read from here on is checked, whatever other readers have checked
	// before.
	w.v.Quarantine, w.v.pin = nil, &atomic.Pointer[shardTables]{}
	w.v.pin.Store(w.t)
	for _, step := range []func() error{w.text, w.contentLists, w.pathLists, w.symbols, w.strangers} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// fault reports a problem, unless err is nil.
func (w *verifier) fault(where string, err error) bool {
	if err == nil {
		return false
	}
	w.Fault(where, engine.Message(err))
	return true
}

// tick counts what was read, and pauses now and then.
func (w *verifier) tick(bytes int) error {
	if w.Read(bytes); w.unread < 1<<20 {
		w.unread += bytes
		return nil
	}
	w.unread = 0
	if err := w.ctx.Err(); err != nil {
		return err
	}
	return w.Pause(w.ctx)
}

// tables reads the tables and holds them against the header. It reports false
// when there is nothing to go on with.
func (w *verifier) tables() bool {
	h := &w.v.Header
	t, err := readTables(w.v.src.Reader, w.v.ID)
	if w.fault("documents", err) {
		return false
	}
	if t.sets, err = readSets(w.v.src.Reader, w.v.ID); w.fault("documents", err) {
		return false
	}
	if h.IsHistory() {
		if t.commits, err = readCommits(w.v.src.Reader, w.v.ID); w.fault("commits", err) {
			return false
		}
	}
	if w.fault("header", t.agree(h)) {
		return false
	}
	chunks := int(t.docs.TextStart[t.docs.Len()])/chunkBytes + 1
	t.checked, t.chunks = make([]atomic.Uint64, chunks/64+1), make([]atomic.Pointer[cachedChunk], chunks)
	w.t = t
	if got := int64(t.docs.TextStart[t.docs.Len()]); got != h.TextBytes {
		w.Fault("header", fmt.Sprintf("it tells of %d bytes of text, the documents have %d", h.TextBytes, got))
	}
	w.bounds("dead documents", w.v.Dead, h.Documents)
	if away := w.v.away; away != nil {
		away.Scan(func(repository uint32, sets []*postings.Set) bool {
			for _, set := range sets {
				w.bounds(fmt.Sprintf("documents away from branches of repository %d", repository), set, h.Documents)
			}
			return true
		})
	}
	if c := t.commits; c != nil {
		w.commits(c)
	}
	return true
}

// bounds reports a set with numbers beyond its bound.
func (w *verifier) bounds(what string, set *postings.Set, most int) {
	if set != nil && most < postings.MaxBlocks && set.Meets(most, postings.MaxBlocks) {
		w.Fault("documents", fmt.Sprintf("the set of %s goes beyond %d", what, most))
	}
}

// commits holds the commit table against the document table.
func (w *verifier) commits(c *Commits) {
	for i := range c.Len() {
		if c.State[i] > CommitUnreadable {
			w.Fault("commits", fmt.Sprintf("commit %x is in state %d, which there is not", c.OID(i), c.State[i]))
		}
		for d := c.Message[i]; d < c.Message[i+1]; d++ {
			if w.t.docs.Repository[d] != c.Repository[i] {
				w.Fault("commits", fmt.Sprintf("commit %x is of repository %d, its document %d of %d", c.OID(i), c.Repository[i], d, w.t.docs.Repository[d]))
			}
		}
	}
}

// text goes over the documents, and gathers the lists of their content.
func (w *verifier) text() error {
	docs, scan := w.t.docs, w.t.sets.scan
	text := w.v.Text()
	text.Done = w.ctx.Done()
	defer text.Close()
	var newlines []uint16
	for i := range docs.Len() {
		if docs.TextStart[i+1] < docs.TextStart[i] {
			w.Fault("documents", fmt.Sprintf("document %d ends before it begins", i))
			return nil
		}
		data, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
		if errors.Is(err, ErrNotReserved) {
			return w.ctx.Err()
		}
		if w.fault("text", err) {
			text.Release()
			continue
		}
		if err := w.document(i, data); err != nil {
			w.Fault("text", fmt.Sprintf("document %d, %q: %v", i, docs.Path(i), err))
		}
		first, end := int(docs.FirstBlock[i]), int(docs.FirstBlock[i+1])
		if newlines = appendNewlines(newlines[:0], data); !slices.Equal(newlines, w.t.newlines[first:end]) {
			w.Fault("text", fmt.Sprintf("document %d, %q: the newlines of its blocks are others than the table says", i, docs.Path(i)))
		}
		if scan == nil || !scan.Meets(first, end) {
			w.gather(first, data)
		} else if len(data) == 0 {
			w.Fault("lists", fmt.Sprintf("document %d, %q, has no text and is always scanned", i, docs.Path(i)))
		}
		text.Release()
		if err := w.tick(len(data)); err != nil {
			return err
		}
	}
	return nil
}

// document compares text with the id of the blob that it was, if it was taken in
// as it stands.
func (w *verifier) document(i int, text []byte) error {
	d := w.t.docs.At(i)
	if d.Reason != Searchable || d.Encoding != "" || d.FileBytes != d.TextBytes {
		return nil
	}
	header := fmt.Appendf(nil, "blob %d\x00", len(text))
	var sum []byte
	switch len(d.OID) {
	case sha1.Size:
		h := sha1.New()
		h.Write(header)
		h.Write(text)
		sum = h.Sum(nil)
	case sha256.Size:
		h := sha256.New()
		h.Write(header)
		h.Write(text)
		sum = h.Sum(nil)
	default: // the documents of commits have none
		return nil
	}
	if !bytes.Equal(sum, d.OID) {
		return fmt.Errorf("%w: its text has the id %x, it should be %x", engine.ErrCorrupt, sum, d.OID)
	}
	return nil
}

// strangers reports keys that no shard has.
func (w *verifier) strangers() error {
	id, docs := w.v.ID, w.t.docs
	part := func(p byte) []byte { return appendShardPart(nil, id, p) }
	chunks := (docs.TextStart[docs.Len()] + chunkBytes - 1) / chunkBytes
	for _, gap := range []struct{ from, to []byte }{
		{keyShard(id), part(partChunk)},
		{appendKeyChunk(nil, id, chunks), part(partDocument)},
		{append(keyNewlines(id), 0), part(partPosting)},
		{append(part(partPosting), byte(FieldPath)+1), part(partSpecial)},
		{append(part(partSpecial), specialWidePath+1), part(partSymbols)},
		{part(partCommit + 1), engine.After(keyShard(id))},
	} {
		key, err := firstKey(w.v.src.Reader, gap.from, gap.to)
		if w.fault("header", err) {
			continue
		}
		if key != nil {
			w.Fault("header", fmt.Sprintf("key %x should not be there", key))
		}
	}
	return nil
}

// firstKey returns the first key from lower up to but not including upper, or
// nil.
func firstKey(r pebble.Reader, lower, upper []byte) (key []byte, err error) {
	err = engine.Each(r, &pebble.IterOptions{LowerBound: lower, UpperBound: upper}, func(k, _ []byte) (bool, error) {
		key = bytes.Clone(k)
		return false, nil
	})
	return key, err
}

// trigramOf returns the trigram that the key of a posting list ends with.
func trigramOf(key []byte) postings.Trigram {
	return postings.Trigram(binary.BigEndian.Uint32(append([]byte{0}, key[len(key)-3:]...)))
}
