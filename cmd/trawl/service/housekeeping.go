package service

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/redact"
)

const (
	// tidyEvery is how often the log of a cluster is cut, and sweepEvery how often the
	// objects that no record names are looked for, which lists all of them.
	tidyEvery  = time.Minute
	sweepEvery = 15 * time.Minute
)

// keepCluster does for all nodes what one of them has to, while that falls to this one,
// until ctx ends. It returns at once for a store of one machine.
func (s *Service) keepCluster(ctx context.Context) {
	if s.node == nil {
		return
	}
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	swept := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.node.Does(node.TaskHousekeeping) {
			continue
		}
		if err := s.node.Tidy(ctx); err != nil && ctx.Err() == nil {
			s.opts.Log.Warn().Str("err", redact.Text(err.Error())).Msg("cut the log of the cluster")
		}
		if time.Since(swept) >= sweepEvery {
			swept = time.Now()
			s.sweepObjects(ctx)
		}
	}
}

func (s *Service) sweepObjects(ctx context.Context) {
	n, bytes, err := s.store.Node().SweepObjects(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		s.opts.Log.Warn().Str("err", redact.Text(err.Error())).Msg("sweep shards that no record names")
	case n > 0:
		s.opts.Log.Info().Int("objects", n).Int64("bytes", bytes).Msg("swept shards that no record names")
	}
}

// Current reports whether this node is known to have what all others have changed, or
// had it within the grace of the settings.
func (s *Service) Current() bool {
	return store.Freshness{Confirmed: s.store.Node().Confirmed, Grace: s.set.Grace}.Current()
}

// Nodes is how many nodes serve the same clients.
func (s *Service) Nodes() int { return s.node.Live() }
