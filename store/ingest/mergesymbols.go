package ingest

import (
	"context"
	"errors"

	"github.com/trawlsearch/trawl/store/shard"
)

// keepSymbols has the symbols of a group copied if all of it have some, so that
// searches for symbols never miss what has only moved, and ctags reads nothing
// twice. Otherwise what is written counts as a shard whose symbols were never
// read.
func (m *merging) keepSymbols(group []shard.View) {
	sum := shard.SymbolCounts{Version: shard.SymbolVersion}
	for _, v := range group {
		if !v.HasSymbols() {
			return
		}
		sum.Documents += v.Header.Symbols.Documents
		sum.Failed += v.Header.Symbols.Failed
		sum.Unknown += v.Header.Symbols.Unknown
	}
	m.symbols = &sum
}

// copySymbols gives the shard h, which holds the documents written, their
// symbols.
func (m *merging) copySymbols(ctx context.Context, h *shard.Header, written []source) (err error) {
	if m.symbols == nil {
		return nil
	}
	w := m.merger.writers.beginSymbols(ctx)
	defer func() { err = errors.Join(err, w.Close()) }()
	counts := *m.symbols
	counts.Symbols, err = w.Copy(ctx, *h, func(dst []shard.Symbol, d uint16) ([]shard.Symbol, error) {
		return written[d].view.Symbols(dst, uint16(written[d].doc))
	})
	if err != nil {
		return err
	}
	h.Symbols = &counts
	m.symbols = &shard.SymbolCounts{Version: shard.SymbolVersion}
	return nil
}
