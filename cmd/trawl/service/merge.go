package service

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/span"
)

// Merge rewrites what is worth it and returns how many shards it replaced.
func (s *Service) Merge(ctx context.Context, report func(ingest.Progress)) (int, error) {
	ctx, cancel := s.lifetime.untilStop(ctx)
	defer cancel()
	defer s.busy.begin()()
	start := time.Now()
	within, traced := span.Start(ctx, string(WorkMerge), "")
	n, err := s.indexer.Merge(within, report)
	traced(err)
	s.worked(ctx, WorkMerge, start, n > 0, err)
	if n > 0 {
		s.noteChange()
	}
	return n, err
}

// KeepMerged merges whenever shards were added, until ctx ends. So there are few of
// them also while thousands of repositories are indexed and their commits are read.
func (s *Service) KeepMerged(ctx context.Context) {
	for ctx.Err() == nil {
		s.merge(ctx)
		select {
		case <-ctx.Done():
		case <-s.unmerged:
		}
	}
}

// merge is Merge that logs what came of it.
func (s *Service) merge(ctx context.Context) {
	if s.Stopped() != nil || !s.node.Does(node.TaskMerge) {
		return
	}
	began := time.Now()
	n, err := s.Merge(ctx, func(ingest.Progress) {})
	switch {
	case ctx.Err() != nil || errors.Is(err, errClosing) || s.told(err):
	case err != nil:
		s.opts.Log.Warn().Err(err).Msg("merge")
	case n > 0:
		s.opts.Log.Info().Int("shards", n).Int64("took_ms", time.Since(began).Milliseconds()).Msg("merged")
	}
}

// noteUnmerged says that there may be shards to merge.
func (s *Service) noteUnmerged() {
	select {
	case s.unmerged <- struct{}{}:
	default:
	}
}
