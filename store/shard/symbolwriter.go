package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/postings"
)

// symbolBlockBytes is the engine's block size for symbols, two groups of names.
// Hundreds of groups here and there are read for a word that many names have.
// With 512 MiB for the Linux tree, where blocks do not stay in memory, half of
// the queries of trawl-bench load take 24 ms and not the 33 that they take with
// the size that is right for text; the data directory is 0.8 % larger.
const symbolBlockBytes = 8 << 10

// SymbolWriter writes the symbols of shards that are there, one shard after the
// other: Begin, Add in the order of documents, Finish. It is not safe for
// concurrent use. Close it in any case.
type SymbolWriter struct {
	to      Destination
	builder *postings.Builder
	// Pause is that of Writer, for lists.
	Pause   func()
	shard   uint32
	docs    *Documents
	run     *runWriter
	sealed  bool // the run is complete
	wide    postings.Set
	symbols int
	key     []byte
	value   []byte
}

// NewSymbolWriter returns a writer with nothing begun.
func NewSymbolWriter(to Destination) *SymbolWriter {
	return &SymbolWriter{to: to, builder: to.Budget.NewBuilder()}
}

// Begin opens the run of a shard's symbols.
func (w *SymbolWriter) Begin(v View) error {
	docs, err := v.Documents()
	if err != nil {
		return err
	}
	return w.begin(v.ID, docs)
}

func (w *SymbolWriter) begin(shard uint32, docs *Documents) error {
	w.shard, w.docs = shard, docs
	run, err := w.to.newRun(fmt.Sprintf("%d-symbols", shard), shard, PartSymbols)
	if err != nil {
		return fmt.Errorf("write symbols: %w", err)
	}
	w.run, w.sealed = run, false
	return nil
}

// Add adds the symbols of a document, which may come in any order and are the
// writer's.
func (w *SymbolWriter) Add(document uint16, symbols []Symbol) error {
	if len(symbols) == 0 {
		return nil
	}
	symbols = normalSymbols(symbols)
	w.symbols += len(symbols)
	first, end := w.docs.FirstBlock[document], w.docs.FirstBlock[document+1]
	for i, g := range groups(symbols, int(end-first)) {
		if err := w.addGroup(uint16(first)+uint16(i), g); err != nil {
			return fmt.Errorf("write symbols: %w", err)
		}
	}
	return nil
}

func (w *SymbolWriter) addGroup(block uint16, symbols []Symbol) error {
	for _, s := range symbols {
		name := []byte(s.Name)
		w.builder.AddWhole(int(block), name)
		if hasWide(name) {
			w.wide.Add(block)
		}
	}
	w.key = appendKeySymbols(w.key[:0], w.shard, block)
	w.value = appendSymbols(w.value[:0], symbols)
	return w.run.Set(w.key, w.value)
}

// Seal writes the posting lists and completes the run, without making it
// visible to readers.
func (w *SymbolWriter) Seal() error {
	err := w.builder.Walk(func(t postings.Trigram, value []byte) error {
		if w.Pause != nil {
			w.Pause()
		}
		w.key = appendKeyPosting(w.key[:0], w.shard, FieldSymbol, t)
		return w.run.Set(w.key, value)
	})
	if err == nil {
		err = w.run.Set(keySymbolSpecial(w.shard, specialWideFold), postings.Encode(nil, &w.wide))
	}
	w.sealed = true
	if err := errors.Join(err, w.run.Close()); err != nil {
		return fmt.Errorf("write symbols: %w", err)
	}
	return nil
}

// Finish takes the sealed run in and marks the shard with counts, to which it
// adds the version and the number of symbols. The shard must not be dropped
// meanwhile. The leftovers of an earlier run are removed before; interrupted
// anywhere, the shard is unmarked or complete.
func (w *SymbolWriter) Finish(ctx context.Context, counts SymbolCounts) error {
	if err := w.finish(ctx, counts); err != nil {
		return fmt.Errorf("write symbols of shard %d: %w", w.shard, err)
	}
	w.reset()
	return nil
}

func (w *SymbolWriter) finish(ctx context.Context, counts SymbolCounts) error {
	if err := w.removeLeftovers(); err != nil {
		return err
	}
	if err := w.run.ingest(ctx); err != nil {
		return err
	}
	w.run = nil
	counts.Version, counts.Symbols = SymbolVersion, w.symbols
	return w.to.Mark(w.shard, counts)
}

// removeLeftovers deletes the symbols of a run that was taken in and not
// marked, or is of another version.
func (w *SymbolWriter) removeLeftovers() error {
	return w.to.Update(func(db *pebble.DB) error {
		lower, upper := symbolKeys(w.shard)
		if key, err := firstKey(db, lower, upper); err != nil || key == nil {
			return err
		}
		return db.DeleteRange(lower, upper, pebble.Sync)
	})
}

func (w *SymbolWriter) reset() {
	w.builder.Reset()
	w.wide, w.symbols, w.run, w.shard, w.docs = postings.Set{}, 0, nil, 0, nil
}

// Close gives up what was begun, if anything, and removes its file. The writer
// may be used again.
func (w *SymbolWriter) Close() error {
	var errs []error
	if w.run != nil {
		if !w.sealed {
			errs = append(errs, w.run.Close())
		}
		errs = append(errs, w.to.remove(w.run.file.Path))
	}
	w.reset()
	w.builder.Release()
	return errors.Join(errs...)
}

// Copy writes the symbols of a shard that a Writer finished and no Change has
// shown yet: symbols appends those of a document. It returns the counts for the
// header's Symbols. If it is interrupted, no reader sees the shard.
func (w *SymbolWriter) Copy(ctx context.Context, h Header, symbols func(dst []Symbol, document uint16) ([]Symbol, error)) (n int, err error) {
	defer func() {
		err = errors.Join(err, w.Close())
	}()
	var docs *Documents
	err = w.to.Update(func(db *pebble.DB) error {
		t, err := readTables(db, h.ID)
		docs = t.docs
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := w.begin(h.ID, docs); err != nil {
		return 0, err
	}
	var of []Symbol
	for i := range docs.Len() {
		if of, err = symbols(of[:0], uint16(i)); err != nil {
			return 0, err
		}
		if err := w.Add(uint16(i), of); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(ctx.Err(), w.Seal()); err != nil {
		return 0, err
	}
	if err := w.run.ingest(ctx); err != nil {
		return 0, fmt.Errorf("write symbols of shard %d: %w", h.ID, err)
	}
	w.run = nil
	return w.symbols, nil
}
