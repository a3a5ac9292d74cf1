package service

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Merge rewrites what is worth it and returns how many shards it replaced.
func (u *Upkeep) Merge(ctx context.Context, report func(ingest.Progress)) (int, error) {
	ctx, end := u.background.begin(ctx, WorkMerge)
	n, err := u.indexer.Merger.Merge(ctx, report)
	end(n > 0, err)
	if n > 0 {
		u.symbolsDue.set()
	}
	return n, err
}

// KeepMerged merges whenever shards were added, until ctx ends. So there are few of
// them also while thousands of repositories are indexed and their commits are read.
func (u *Upkeep) KeepMerged(ctx context.Context) {
	for ctx.Err() == nil {
		u.merge(ctx)
		select {
		case <-ctx.Done():
		case <-u.mergeDue:
		}
	}
}

// merge is Merge that logs what came of it.
func (u *Upkeep) merge(ctx context.Context) {
	if u.disk.stopped() != nil || !u.node.Does(node.TaskMerge) {
		return
	}
	began := time.Now()
	n, err := u.Merge(ctx, func(ingest.Progress) {})
	switch {
	case ctx.Err() != nil || errors.Is(err, errClosing) || u.disk.reported(err):
	case err != nil:
		u.log.Warn().Err(err).Msg("merge")
	case n > 0:
		u.log.Info().Int("shards", n).Int64("took_ms", time.Since(began).Milliseconds()).Msg("merged")
	}
}
