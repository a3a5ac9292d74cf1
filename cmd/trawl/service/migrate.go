package service

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/migrations"
	"github.com/trawlsearch/trawl/store"
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

// yieldStep is the time between two looks whether a search is at work.
const yieldStep = time.Millisecond

// yieldTo returns the Yield of ingest, which waits until no search is at work, ctx ends,
// or so long, and returns for how long.
func yieldTo(working func() int) func(ctx context.Context, atMost time.Duration) time.Duration {
	return func(ctx context.Context, atMost time.Duration) time.Duration {
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
}
