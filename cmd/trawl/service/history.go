package service

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/span"
)

// History reads the commits of repositories that were synced since theirs were
// read, if it is to.
func (s *Service) History(ctx context.Context, report func(ingest.Progress)) (ingest.HistoryResult, error) {
	if !s.opts.History {
		return ingest.HistoryResult{}, nil
	}
	ctx, cancel := s.lifetime.untilStop(ctx)
	defer cancel()
	defer s.busy.begin()()
	start := time.Now()
	within, traced := span.Start(ctx, string(WorkHistory), "")
	res, err := s.indexer.History(within, report)
	traced(err)
	s.worked(ctx, WorkHistory, start, res.Commits > 0, err)
	return res, err
}

// KeepHistory reads commits now and after every sync, once nothing is
// indexed, until ctx ends.
func (s *Service) KeepHistory(ctx context.Context) {
	for s.opts.History {
		s.readHistory(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.synced:
		}
		if err := s.awaitIdle(ctx); err != nil {
			return
		}
	}
}

func (s *Service) readHistory(ctx context.Context) {
	res, err := s.History(ctx, nil)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled) || s.told(err):
		return
	case err != nil:
		s.opts.Log.Warn().Err(err).Msg("read history")
	case res.Commits > 0:
		s.opts.Log.Info().Int("commits", res.Commits).Int("repos", res.Repositories).Int64("took_ms", res.Took.Milliseconds()).Msg("read history")
	}
	for _, why := range res.Failed {
		s.opts.Log.Warn().Str("err", redact.Text(why)).Msg("history of a repository")
	}
}

// noteSync says that there may be commits to read.
func (s *Service) noteSync() {
	select {
	case s.synced <- struct{}{}:
	default:
	}
}
