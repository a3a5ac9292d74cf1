package ingest

import (
	"context"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// writers begins shards. It guards how large they become, and how much of the caches'
// memory writing one borrows.
type writers struct {
	store *store.Store
	// blocks is the most blocks of a shard.
	blocks int
	// holds are the repositories that one task has to itself. While others than the one
	// that is written are fetched and read, texts and git take memory, too.
	holds *holds
	pace  *pace
}

// begin returns a writer. One for little text, such as of a commit that someone waits
// for, leaves in memory what searches have read, while no other repository is held.
func (ws *writers) begin(ctx context.Context, little bool) *shard.Writer {
	w := ws.store.NewShardWriter()
	w.Pause = ws.pace.pauses(ctx)
	w.MaxBlocks = ws.blocks
	if little && ws.holds.count() <= 1 {
		w.Loan = shard.LeastLoan
	}
	return w
}

// beginSymbols returns a writer of symbols.
func (ws *writers) beginSymbols(ctx context.Context) *shard.SymbolWriter {
	w := ws.store.NewSymbolWriter()
	w.Pause = ws.pace.pauses(ctx)
	return w
}

// beginGroup returns a writer for what some jobs have read, of which the caches go
// without as much as a full group takes.
func (ws *writers) beginGroup(ctx context.Context, jobs int) *shard.Writer {
	w := ws.begin(ctx, jobs == 1)
	w.MaxListBytes = min(w.MaxListBytes, 2*mostGroupBytes)
	return w
}
