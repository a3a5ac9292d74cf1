package shard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/postings"
)

// Writer writes shards one after the other: AddDocument in rank order,
// then Finish, then the next. Text is compressed and written as it comes, in a
// goroutine of its own; posting lists are gathered in memory, some 160 MB for
// a full shard, which the caches go without meanwhile (see Loan). It is not safe for
// concurrent use. Close it in any case.
type Writer struct {
	to      Destination
	builder *postings.Builder
	// MaxBlocks is the most blocks of a shard, MaxListBytes what its posting
	// lists may take in memory before it counts as full; tests make them small.
	MaxBlocks, MaxListBytes int
	// Loan is how many bytes the caches go without from the start, and more as the lists
	// grow beyond that; MaxListBytes at most.
	Loan int
	// Pause, if set, is called again and again while chunks and lists are written, which
	// takes up to a second for a full shard, and may wait. It is called from one goroutine
	// at a time.
	Pause func()
	// Index is the layout to write, the newest but in tests of older ones. It
	// holds from the next shard on.
	Index IndexVersion

	header Header
	path   string
	run    *runWriter
	// lent is how many bytes the caches go without for the lists, giveBack returns
	// each part of them.
	lent     int
	giveBack []func()
	// failed is why the shard begun cannot be completed any more.
	failed    error
	docs      []Document
	commits   []commitRow
	pathBytes int
	newlines  []uint16
	wide      postings.Set
	scan      postings.Set

	text    []byte
	chunks  chan []byte
	free    chan []byte
	written chan error
}

// chunksAhead is how many filled chunks may wait for compression.
const chunksAhead = 64

const (
	// MaxPathBytes is the longest path that a document may have.
	MaxPathBytes = 1 << 20
	// maxShardPathBytes bounds the document table, which readers keep in
	// memory. 65,536 paths of source code take some 3 MB.
	maxShardPathBytes = 64 << 20
)

// NewWriter returns a writer with nothing begun, which makes posting lists in b.
func NewWriter(to Destination, b *postings.Builder) *Writer {
	return &Writer{
		to: to, builder: b, MaxBlocks: postings.MaxBlocks, MaxListBytes: int(to.Budget.listBytes), Loan: int(to.Budget.listBytes), Index: IndexNewest,
		free: make(chan []byte, chunksAhead),
	}
}

// Fits reports whether a document with so much text fits the shard begun.
func (w *Writer) Fits(textBytes int) bool {
	return w.header.Blocks+postings.BlockCount(textBytes) <= w.MaxBlocks && !w.full()
}

// full reports whether the shard begun is full for another reason than its
// blocks.
func (w *Writer) full() bool {
	return w.pathBytes >= maxShardPathBytes || w.builder.Bytes() > w.MaxListBytes
}

// Empty reports whether the shard begun has no document yet.
func (w *Writer) Empty() bool { return len(w.docs) == 0 }

// AddDocument adds d with its searchable text, empty when d.Reason says that
// it has none. A document that is not indexed goes to the blocks that every
// search scans. The text is not kept; d.OID is copied. After an error the shard
// begun is lost: what is left is Close.
func (w *Writer) AddDocument(d Document, text []byte, indexed bool) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.addDocument(d, text, indexed); err != nil {
		w.failed = fmt.Errorf("write shard: %w", err)
	}
	return w.failed
}

func (w *Writer) addDocument(d Document, text []byte, indexed bool) error {
	block := w.header.Blocks
	n := postings.BlockCount(len(text))
	if block+n > postings.MaxBlocks || len(d.Path) > MaxPathBytes {
		return fmt.Errorf("document with a path of %d and a text of %d bytes does not fit", len(d.Path), len(text))
	}
	if w.run == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if indexed {
		w.builder.AddDocument(block, text)
		w.borrow()
		addWide(&w.wide, block, text)
	} else if len(text) > 0 {
		for i := range n {
			w.scan.Add(uint16(block + i))
		}
	}
	w.newlines = appendNewlines(w.newlines, text)
	d.OID = bytes.Clone(d.OID)
	d.TextBytes = uint32(len(text))
	w.docs = append(w.docs, d)
	w.pathBytes += len(d.Path)
	w.header.Blocks += n
	w.header.TextBytes += int64(len(text))
	return w.addText(text)
}

// The runes outside ASCII whose simple case folding is ASCII: U+017F, long s,
// and U+212A, the Kelvin sign.
var wideRunes = [][]byte{[]byte("\u017f"), []byte("\u212a")}

func hasWide(text []byte) bool {
	return bytes.Contains(text, wideRunes[0]) || bytes.Contains(text, wideRunes[1])
}

// wideReach is how far before such a rune a literal may begin that holds it:
// a literal of MaxLiteralBytes grows at most threefold by folding.
const wideReach = 3 * postings.MaxLiteralBytes

// addWide adds the blocks of a document in which a literal may begin that holds
// such a rune.
func addWide(wide *postings.Set, block int, text []byte) {
	for _, r := range wideRunes {
		for at := 0; ; at += len(r) {
			i := bytes.Index(text[at:], r)
			if i < 0 {
				break
			}
			at += i
			for b := max(0, at-wideReach) / postings.BlockBytes; b <= at/postings.BlockBytes; b++ {
				wide.Add(uint16(block + b))
			}
		}
	}
}

func (w *Writer) addText(text []byte) error {
	for len(text) > 0 {
		if w.text == nil {
			w.text = w.buffer()
		}
		n := min(chunkBytes-len(w.text), len(text))
		w.text = append(w.text, text[:n]...)
		text = text[n:]
		if len(w.text) == chunkBytes {
			if err := w.flushChunk(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) buffer() []byte {
	select {
	case b := <-w.free:
		return b[:0]
	default:
		return make([]byte, 0, chunkBytes)
	}
}

// flushChunk hands the filled chunk to the writing goroutine; when that has
// failed, its error comes back here.
func (w *Writer) flushChunk() error {
	select {
	case w.chunks <- w.text:
		w.text = nil
		return nil
	case err := <-w.written:
		w.chunks, w.written = nil, nil
		return err
	}
}

// RunPrefix begins the names of runs that are being written; the engine gives
// them names of its own when it takes them.
const RunPrefix = "shard-"

// LeastLoan is what the smallest shard takes: its lists, its table, and text on its way to
// the file.
const LeastLoan = 2 << 20

// borrow has the caches go without what the lists take.
func (w *Writer) borrow() {
	for w.lent < min(w.Loan, w.MaxListBytes) || w.lent < w.MaxListBytes && w.builder.Bytes()+LeastLoan/2 > w.lent {
		more := min(max(LeastLoan, w.Loan, w.lent), w.MaxListBytes-w.lent)
		w.giveBack = append(w.giveBack, w.to.Budget.Borrow(int64(more)))
		w.lent += more
	}
}

// begin opens the run of a new shard.
func (w *Writer) begin() error {
	w.borrow()
	id, err := w.to.Number()
	if err != nil {
		return err
	}
	w.header = Header{ID: id, Index: w.Index}
	run, err := w.to.newRun(fmt.Sprint(id), id, PartText)
	if err != nil {
		return err
	}
	w.run, w.path = run, run.file.Path
	w.chunks, w.written = make(chan []byte, chunksAhead), make(chan error, 1)
	go w.writeChunks(w.header, w.run, w.chunks, w.written)
	return nil
}

// writeChunks writes text chunks in order until the channel is closed, and
// then sends how that went. After an error it stops reading.
func (w *Writer) writeChunks(h Header, run *runWriter, chunks <-chan []byte, written chan<- error) {
	var key, value []byte
	n := uint32(0)
	for text := range chunks {
		w.pause()
		var err error
		key = appendKeyChunk(key[:0], h.ID, n)
		if value, err = sealChunk(value[:0], text, h.packed()); err == nil {
			err = run.Set(key, value)
		}
		if err != nil {
			written <- err
			return
		}
		n++
		select {
		case w.free <- text:
		default:
		}
	}
	written <- nil
}

// Finish completes the shard and ingests it. It stays invisible until its
// header is part of a committed Change. If that will not be, a Change that
// drops it removes it; after a crash, the next Open does.
func (w *Writer) Finish(ctx context.Context) (Header, error) {
	h := w.header
	h.Documents, h.Commits, h.Full = len(w.docs), len(w.commits), w.full()
	if len(w.docs) > 0 {
		h.Quality = w.docs[0].Quality
	}
	h.Reasons = countReasons(func(yield func(Reason) bool) {
		for i := range w.docs {
			if !yield(w.docs[i].Reason) {
				return
			}
		}
	})
	if w.failed == nil {
		if err := w.finish(ctx); err != nil {
			w.failed = fmt.Errorf("write shard: %w", err)
		}
	}
	if err := w.failed; err != nil {
		_ = w.Close() // what that has to say follows from err
		return Header{}, err
	}
	w.reset()
	return h, nil
}

func (w *Writer) finish(ctx context.Context) error {
	if len(w.text) > 0 {
		if err := w.flushChunk(); err != nil {
			return err
		}
	}
	if err := w.endChunks(); err != nil {
		return err
	}
	if err := w.writeTables(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	run := w.run
	w.run = nil
	if err := run.Close(); err != nil {
		return err
	}
	return run.ingest(ctx)
}

func (w *Writer) endChunks() error {
	if w.chunks == nil {
		return nil
	}
	close(w.chunks)
	err := <-w.written
	w.chunks, w.written = nil, nil
	return err
}

func (w *Writer) writeTables() error {
	id := w.header.ID
	for page, docs := 0, w.docs; len(docs) > 0; page++ {
		n := pageLength(docs)
		if err := w.run.Set(keyDocumentPage(id, page), encodePage(docs[:n])); err != nil {
			return err
		}
		docs = docs[n:]
	}
	table := make([]byte, 0, 2*len(w.newlines))
	for _, n := range w.newlines {
		table = binary.LittleEndian.AppendUint16(table, n)
	}
	if err := w.run.Set(keyNewlines(id), table); err != nil {
		return err
	}
	if w.header.exact() {
		if err := w.writeLists(FieldExact, w.builder.WalkExact); err != nil {
			return err
		}
	}
	if err := w.writeLists(FieldContent, w.builder.Walk); err != nil {
		return err
	}
	// The trigram table is free now and serves the paths, whose lists name
	// documents.
	w.builder.Reset()
	widePath, old := &postings.Set{}, w.oldPaths()
	for i := range w.docs {
		for _, path := range [][]byte{[]byte(w.docs[i].Path), []byte(old[i])} {
			w.builder.AddWhole(i, path)
			w.borrow()
			if hasWide(path) {
				widePath.Add(uint16(i))
			}
		}
	}
	if err := w.writeLists(FieldPath, w.builder.Walk); err != nil {
		return err
	}
	for i, set := range []*postings.Set{&w.wide, &w.scan, widePath} {
		kind := []byte{specialWideFold, specialScanAlways, specialWidePath}[i]
		if err := w.run.Set(keySpecial(id, kind), postings.Encode(nil, set)); err != nil {
			return err
		}
	}
	return w.writeCommits()
}

// writeLists writes the lists that walk yields.
func (w *Writer) writeLists(f Field, walk func(func(postings.Trigram, []byte) error) error) error {
	var key []byte
	return walk(func(t postings.Trigram, value []byte) error {
		w.pause()
		key = appendKeyPosting(key[:0], w.header.ID, f, t)
		return w.run.Set(key, value)
	})
}

func (w *Writer) pause() {
	if w.Pause != nil {
		w.Pause()
	}
}

func (w *Writer) reset() {
	w.builder.Reset()
	w.header, w.docs, w.newlines, w.path = Header{}, nil, w.newlines[:0], ""
	w.pathBytes, w.failed, w.commits = 0, nil, nil
	w.wide, w.scan, w.text = postings.Set{}, postings.Set{}, nil
}

// Close gives up the shard begun, if any, and removes its file.
func (w *Writer) Close() error {
	var errs []error
	for _, give := range w.giveBack {
		give()
	}
	w.lent, w.giveBack = 0, nil
	if w.chunks != nil {
		errs = append(errs, w.endChunks())
	}
	if w.run != nil {
		errs = append(errs, w.run.Close())
		w.run = nil
	}
	if w.path != "" {
		errs = append(errs, w.to.remove(w.path))
	}
	w.reset()
	w.builder.Release()
	return errors.Join(errs...)
}
