package service

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/migrations"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/span"
)

// Migrate brings the data directory of the settings to the newest format, if
// there is one, and logs each step.
func Migrate(ctx context.Context, set config.Settings, log zerolog.Logger) error {
	began := time.Now()
	done, err := migrations.Run(ctx, set.Data, store.Options{Event: storeEvent(log)})
	for _, d := range done {
		log.Info().Uint32("from", uint32(d.From)).Uint32("to", uint32(d.To)).Int("records", d.Records).
			Int64("took_ms", time.Since(began).Milliseconds()).Msg("migrated the data directory: " + d.About)
	}
	return err
}

// Outdated counts the shards whose index is of an older version. They are
// searched as they are.
func (s *Service) Outdated() ingest.Outdated { return s.indexer.Outdated() }

// Rebuild rewrites those shards and returns how many it replaced.
func (s *Service) Rebuild(ctx context.Context, report func(ingest.Progress)) (int, error) {
	ctx, cancel := s.lifetime.untilStop(ctx)
	defer cancel()
	defer s.busy.begin()()
	defer s.noteChange()
	start := time.Now()
	within, traced := span.Start(ctx, string(WorkRebuild), "")
	n, err := s.indexer.Rebuild(within, report)
	traced(err)
	s.worked(ctx, WorkRebuild, start, n > 0, err)
	return n, err
}

const (
	// rebuildAgain is how long to wait after shards could not be rewritten.
	rebuildAgain = time.Hour
	// rebuildElsewhere is the time between two looks while another node rewrites them.
	rebuildElsewhere = time.Minute
)

// KeepIndex rewrites the shards whose index is of an older version, until there
// are none or ctx ends. No newer version comes while this program runs.
func (s *Service) KeepIndex(ctx context.Context) {
	for {
		again := rebuildElsewhere
		if s.Outdated().Shards == 0 {
			return
		}
		if s.node.Does(node.TaskMerge) {
			if s.rebuilt(ctx) {
				return
			}
			again = rebuildAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// rebuilt reports whether there is nothing left to rewrite.
func (s *Service) rebuilt(ctx context.Context) bool {
	outdated := s.Outdated()
	if outdated.Shards == 0 {
		return true
	}
	began := time.Now()
	s.opts.Log.Info().Int("shards", outdated.Shards).Int("of", outdated.All).Int64("text_bytes", outdated.TextBytes).
		Msg("rewriting shards of an older index, they can be searched meanwhile")
	n, err := s.Rebuild(ctx, nil)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		s.opts.Log.Info().Int("shards", n).Int("of", outdated.Shards).Msg("rewriting interrupted, it goes on at the next start")
		return false
	case err != nil:
		s.opts.Log.Warn().Err(err).Int("shards", n).Int("of", outdated.Shards).Msg("rewrite shards")
		return false
	}
	s.opts.Log.Info().Int("shards", n).Int64("took_ms", time.Since(began).Milliseconds()).Msg("rewrote shards of an older index")
	return true
}

// yieldStep is the time between two looks whether a search is at work.
const yieldStep = time.Millisecond

// yield is the Yield of ingest.
func (s *Service) yield(ctx context.Context, atMost time.Duration) time.Duration {
	return yield(ctx, atMost, s.searcher.Busy)
}

// yield waits until no search is at work, ctx ends, or so long, and returns for how
// long.
func yield(ctx context.Context, atMost time.Duration, working func() int) time.Duration {
	if working() == 0 {
		return 0
	}
	start := time.Now()
	for ctx.Err() == nil && time.Since(start) < atMost && working() > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(yieldStep):
		}
	}
	return time.Since(start)
}
