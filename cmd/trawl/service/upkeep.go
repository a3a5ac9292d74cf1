package service

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Upkeep is what follows syncs: it merges shards, reads symbols and commits, and rewrites
// shards of an older index. It is safe for concurrent use.
type Upkeep struct {
	store      *store.Store
	indexer    *ingest.Indexer
	node       *node.Node
	background *background
	turns      *turns
	disk       *DiskMonitor
	log        zerolog.Logger
	// program reads symbols; ctagsErr is why it is nil, if it should not be.
	program  *ctags.Program
	ctagsErr error
	// history says that commits are read.
	history bool
	// mergeDue is set when there may be shards to merge, symbolsDue when there may be
	// some without symbols, and historyDue when there may be commits to read.
	mergeDue, symbolsDue, historyDue signal
}

// Keep does all but merges until ctx ends, and gives memory back in pauses.
func (u *Upkeep) Keep(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	if u.program != nil {
		beside.Go(func() { u.keep(ctx, u.symbolsDue, u.readSymbols) })
	}
	if u.history {
		beside.Go(func() { u.keep(ctx, u.historyDue, u.readHistory) })
	}
	beside.Go(func() { u.keepIndex(ctx) })
	u.keepSmall(ctx)
}

// keep does work now, and whenever it is due, once nothing is indexed, until ctx ends.
func (u *Upkeep) keep(ctx context.Context, due signal, work func(context.Context)) {
	for {
		work(ctx)
		select {
		case <-ctx.Done():
			return
		case <-due:
		}
		if err := u.turns.awaitIdle(ctx); err != nil {
			return
		}
	}
}

// synced says that a sync may have left symbols and commits to read.
func (u *Upkeep) synced() {
	u.symbolsDue.set()
	u.historyDue.set()
}
