package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Copy writes the symbols of a shard that a Writer finished and no Change
// has shown yet: symbols appends those of a document. It returns how many there
// are, to be told in the header's Symbols. Interrupted anywhere, the shard is one
// that no reader sees.
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
	if err := w.to.Ingest(ctx, w.path); err != nil {
		return 0, fmt.Errorf("write symbols of shard %d: %w", h.ID, err)
	}
	w.path = ""
	return w.symbols, nil
}
