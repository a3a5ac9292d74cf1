package main

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/metrics"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
)

// searchWatch hears of searches beside the metrics: it writes those that took
// long to the log.
type searchWatch struct {
	*metrics.Metrics
	log zerolog.Logger
	// slow is how long a search takes that is logged, 0 is never; text has what
	// was typed logged, too.
	slow time.Duration
	text bool
}

// Searched implements service.Observer.
func (w *searchWatch) Searched(ctx context.Context, s service.Searched) {
	w.Metrics.Searched(ctx, s)
	if w.slow == 0 || s.Took < w.slow {
		return
	}
	line := w.log.Info().Str("kind", string(s.Kind)).Str("outcome", string(s.Outcome)).Int("matches", s.Matches).
		Int64("took_ms", s.Took.Milliseconds()).Int64("waited_ms", s.Waited.Milliseconds()).
		Strs("skipped", s.Skipped).Int("query_bytes", len(s.Text))
	if s.First > 0 {
		line.Int64("first_ms", s.First.Milliseconds())
	}
	if s.ID != "" {
		line.Str("query_id", s.ID)
	}
	if key := auth.From(ctx).Key(); key != "" {
		line.Str("actor", key)
	}
	if w.text {
		line.Str("query", s.Text)
	}
	line.Msg("slow query")
}

// metricsPath is where metrics are.
const metricsPath = "/metrics"

// metricsRoutes are those of the main address.
func (h *host) metricsRoutes() []httpapi.Route {
	page := h.metrics.Handler()
	access := auth.ForSiteAdmins
	if h.set.MetricsPublic {
		access = auth.ForProbes
	}
	return []httpapi.Route{{
		Method: "GET", Path: metricsPath, Access: access,
		Handler: func(w http.ResponseWriter, r *http.Request) error {
			page.ServeHTTP(w, r)
			return nil
		},
	}}
}

// newMetrics makes the metrics of this program.
func (h *host) newMetrics() *metrics.Metrics {
	b := buildOf()
	return metrics.New(metrics.Build{Version: b.version, Revision: b.revision, Go: b.goVersion}, h.status)
}
