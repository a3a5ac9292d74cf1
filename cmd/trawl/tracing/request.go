package tracing

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/span"
)

// Begin begins the span of a request, below the one that its header traceparent
// names, if it has one.
func (t *Tracing) Begin(ctx context.Context, r *http.Request) context.Context {
	ctx = t.context.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, _ = t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return span.With(ctx, t)
}

// Answered ends the span of a request.
func (t *Tracing) Answered(ctx context.Context, a httpapi.Answered) {
	s := trace.SpanFromContext(ctx)
	s.SetName(a.Method + " " + a.Route)
	s.SetAttributes(
		attribute.String("http.request.method", a.Method), attribute.String("http.route", a.Route), attribute.Int("http.response.status_code", a.Status))
	if a.QueryID != "" {
		s.SetAttributes(attribute.String("trawl.query_id", a.QueryID), attribute.String("trawl.outcome", a.Outcome))
	}
	if a.Status >= http.StatusInternalServerError {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// mostSteps bounds the spans of one search: a large index has many shards.
const mostSteps = 64

// Searched makes the spans of a search that is over, with those of its steps.
func (t *Tracing) Searched(ctx context.Context, done service.Searched) {
	ctx, s := t.tracer.Start(ctx, "search", trace.WithTimestamp(done.Start), trace.WithAttributes(
		attribute.String("trawl.kind", string(done.Kind)), attribute.String("trawl.outcome", string(done.Outcome)),
		attribute.Int("trawl.matches", done.Matches), attribute.StringSlice("trawl.skipped", done.Skipped),
		attribute.Int64("trawl.waited_ms", done.Waited.Milliseconds()), attribute.String("trawl.query_id", done.ID)))
	if done.Err != nil {
		s.SetStatus(codes.Error, "failed")
	}
	defer s.End(trace.WithTimestamp(done.Start.Add(done.Took)))
	if !s.IsRecording() {
		return
	}
	made := 0
	for _, step := range done.Trace.Steps() {
		name := stepName(step.Name)
		if name == "" || made == mostSteps {
			continue
		}
		made++
		from := done.Start.Add(done.Waited + max(step.Start, 0))
		t.step(ctx, name, from, step.Took)
	}
}

func (t *Tracing) step(ctx context.Context, name string, from time.Time, took time.Duration) {
	_, s := t.tracer.Start(ctx, name, trace.WithTimestamp(from))
	s.End(trace.WithTimestamp(from.Add(took)))
}

// steps are the names of spans by what the names of steps begin with. Other steps
// have names of repositories or commits in them, and no span.
var steps = []struct{ prefix, name string }{
	{"parse", "parse"}, {"compile query", "compile"}, {"choose repositories", "choose repositories"}, {"repository names", "repository names"},
	{"resolve revisions", "resolve revisions"}, {"list files of revisions", "list revisions"}, {"test repositories for files", "test files"},
	{"read owners", "read owners"}, {"plan shard ", "plan shard"}, {"plan commits", "plan commits"}, {"ask shards", "ask shards"}, {"choose first documents", "choose first documents"},
	{"find definitions", "find definitions"}, {"verify commits", "verify commits"}, {"verify", "verify"},
}

func stepName(step string) string {
	for _, s := range steps {
		if strings.HasPrefix(step, s.prefix) {
			return s.name
		}
	}
	return ""
}
