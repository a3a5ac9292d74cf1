package service

import (
	"context"
	"errors"

	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// History reads the commits of repositories that were synced since theirs were
// read, if it is to.
func (u *Upkeep) History(ctx context.Context, report func(ingest.Progress)) (ingest.HistoryResult, error) {
	if !u.history {
		return ingest.HistoryResult{}, nil
	}
	ctx, end := u.background.begin(ctx, WorkHistory)
	res, err := u.indexer.Histories.Read(ctx, report)
	end(res.Commits > 0, err)
	return res, err
}

func (u *Upkeep) readHistory(ctx context.Context) {
	res, err := u.History(ctx, nil)
	switch {
	case ctx.Err() != nil || errors.Is(err, context.Canceled) || u.disk.reported(err):
		return
	case err != nil:
		u.log.Warn().Err(err).Msg("read history")
	case res.Commits > 0:
		u.log.Info().Int("commits", res.Commits).Int("repos", res.Repositories).Int64("took_ms", res.Took.Milliseconds()).Msg("read history")
	}
	for _, why := range res.Failed {
		u.log.Warn().Str("err", redact.Text(why)).Msg("history of a repository")
	}
}
