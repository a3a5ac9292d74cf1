package main

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/metrics"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/cmd/trawl/tracing"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/span"
)

// searchWatch observes searches beside the metrics: it writes slow ones to the
// log.
type searchWatch struct {
	*metrics.Metrics
	tracing *tracing.Tracing // nil if nothing is traced
	log     zerolog.Logger
	slow    *slowQueries
}

// slowQueries are the settings of slow queries, which change while searches run.
type slowQueries struct {
	now atomic.Pointer[config.Operation]
}

func (s *slowQueries) set(to *config.Settings) { s.now.Store(&to.Operation) }

// Searched implements service.Observer.
func (w *searchWatch) Searched(ctx context.Context, s service.Searched) {
	w.Metrics.Searched(ctx, s)
	if w.tracing != nil {
		w.tracing.Searched(ctx, s)
	}
	slow := w.slow.now.Load()
	if slow.SlowQuery == 0 || s.Took < slow.SlowQuery {
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
	if slow.SlowQueryText {
		line.Str("query", s.Text)
	}
	line.Msg("slow query")
}

// requestWatch counts requests and traces them.
type requestWatch struct {
	*metrics.Metrics
	tracing *tracing.Tracing
}

// Begin implements httpapi.Observer.
func (w requestWatch) Begin(r *http.Request) context.Context {
	return w.tracing.Begin(w.Metrics.Begin(r), r)
}

// Answered implements httpapi.Observer.
func (w requestWatch) Answered(ctx context.Context, a httpapi.Answered) {
	w.Metrics.Answered(ctx, a)
	w.tracing.Answered(ctx, a)
}

// observer returns the observer of requests.
func (h *host) observer() httpapi.Observer {
	if h.tracing == nil {
		return h.metrics
	}
	return requestWatch{h.metrics, h.tracing}
}

// openTracing begins to trace if the environment asks for it, and returns the
// context for work in the background and what ends it.
func (h *host) openTracing(ctx context.Context) (traced context.Context, end func(), err error) {
	h.tracing, err = tracing.Open(ctx, buildOf().version, func(err error) { h.log.Warn().Err(err).Msg("send traces") })
	if err != nil || h.tracing == nil {
		return ctx, func() {}, err
	}
	h.log.Info().Msg("sending traces")
	return span.With(ctx, h.tracing), func() {
		// The last ones are worth a short wait only.
		last, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if err := h.tracing.Close(last); err != nil {
			h.log.Warn().Err(err).Msg("send traces")
		}
	}, nil
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
