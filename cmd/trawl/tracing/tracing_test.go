package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/cmd/trawl/tracing"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/span"
)

// received is a collector: what arrives is decoded, and told in lines of
// "name < parent | status", the service first.
type received struct {
	mu   sync.Mutex
	all  []string
	raw  strings.Builder
	name string
}

func (c *received) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.WriteString(sent.String())
	for _, rs := range sent.ResourceSpans {
		for _, a := range rs.Resource.Attributes {
			if a.Key == "service.name" {
				c.name = a.Value.GetStringValue()
			}
		}
		names := map[string]string{}
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				names[string(s.SpanId)] = s.Name
			}
		}
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				parent := names[string(s.ParentSpanId)]
				if parent == "" && len(s.ParentSpanId) > 0 {
					parent = fmt.Sprintf("%x", s.ParentSpanId)
				}
				c.all = append(c.all, fmt.Sprintf("%s < %s | %s", s.Name, parent, s.Status.GetMessage()))
			}
		}
	}
}

// collecting opens a Tracing whose spans arrive at the collector that it returns,
// once flush was called.
func collecting(t *testing.T, environment map[string]string) (tr *tracing.Tracing, c *received, flush func()) {
	t.Helper()
	c = &received{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	for name, value := range environment {
		t.Setenv(name, value)
	}
	tr, err := tracing.Open(t.Context(), "v1", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return tr, c, func() {
		t.Helper()
		if err := tr.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		slices.Sort(c.all)
	}
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// observer is a Tracing as what httpapi and service want.
type observer struct{ *tracing.Tracing }

func (o observer) Begin(r *http.Request) context.Context {
	return o.Tracing.Begin(r.Context(), r)
}

// searcher searches nothing, and has git do something meanwhile.
type searcher struct{ tr *tracing.Tracing }

func (s searcher) Search(ctx context.Context, q *query.Query, o search.Options, _ answer.Sink) search.Outcome {
	_, end := span.Start(ctx, "git", "cat-file")
	end(errors.New("repository secret-name is gone"))
	o.Trace.Add(report.Step{Name: "plan shard 3", Took: time.Millisecond, Fields: []report.Field{{Key: "query", Value: q.Text}}})
	o.Trace.Add(report.Step{Name: "read secret-name"})
	o.Trace.Add(report.Step{Name: "verify", Start: time.Millisecond, Took: time.Millisecond})
	o.Report.Finish(true)
	s.tr.Searched(ctx, service.Searched{Kind: service.KindFile, Outcome: service.SearchComplete, ID: o.ID, Text: q.Text, Start: time.Now(), Took: time.Second, Trace: o.Trace})
	return search.Outcome{}
}

func TestRequest(t *testing.T) {
	tr, c, flush := collecting(t, nil)
	server := &httpapi.Server{Searcher: searcher{tr}, Observer: observer{tr}}
	r := httptest.NewRequest("GET", "/.api/search/stream?q=secret-text&token=sgp_secret", nil)
	r.Header.Set("traceparent", parent)
	r.Header.Set("Authorization", "token sgp_secret")
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, r)
	flush()
	const request = "GET /.api/search/stream"
	want := []string{
		request + " < b7ad6b7169203331 | ", "git cat-file < " + request + " | failed", "parse < search | ",
		"plan shard < search | ", "search < " + request + " | ", "verify < search | ",
	}
	slices.Sort(want)
	if !slices.Equal(c.all, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(c.all, "\n"), strings.Join(want, "\n"))
	}
	if c.name != "trawl" {
		t.Errorf("service.name: got %q, want trawl", c.name)
	}
	raw := c.raw.String()
	for _, secret := range []string{"secret-text", "sgp_secret", "secret-name"} {
		if strings.Contains(raw, secret) {
			t.Errorf("what was sent holds %q", secret)
		}
	}
	if id := w.Header().Get("X-Trace"); id == "" || !strings.Contains(raw, id) {
		t.Errorf("X-Trace %q is not among what was sent", id)
	}
}

// What a child is told leads to the span that it runs in.
func TestParent(t *testing.T) {
	tr, _, flush := collecting(t, nil)
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("traceparent", parent)
	ctx := tr.Begin(t.Context(), r)
	got := span.Parent(ctx)
	if !strings.HasPrefix(got, parent[:36]) || got == parent {
		t.Errorf("got %q, want another span of the trace of %q", got, parent)
	}
	tr.Answered(ctx, httpapi.Answered{Method: "GET", Route: "/", Status: 200})
	flush()
}

func TestSampler(t *testing.T) {
	tr, c, flush := collecting(t, map[string]string{"OTEL_TRACES_SAMPLER": "always_off", "OTEL_SERVICE_NAME": "search"})
	_, end := tr.Start(t.Context(), "sync", "")
	end(nil)
	flush()
	if len(c.all) > 0 {
		t.Errorf("sent although the sampler says no: %q", c.all)
	}
}

func TestServiceName(t *testing.T) {
	tr, c, flush := collecting(t, map[string]string{"OTEL_SERVICE_NAME": "code-search"})
	_, end := tr.Start(t.Context(), "sync", "fetch")
	end(context.Canceled)
	flush()
	if c.name != "code-search" || !slices.Equal(c.all, []string{"sync fetch <  | cancelled"}) {
		t.Errorf("got service %q and %q", c.name, c.all)
	}
}

func TestOff(t *testing.T) {
	for _, environment := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run("", func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
			for name, value := range environment {
				t.Setenv(name, value)
			}
			tr, err := tracing.Open(t.Context(), "v1", nil)
			if tr != nil || err != nil {
				t.Errorf("%v: got %v, %v; want nothing", environment, tr, err)
			}
			if err := tr.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProtocol(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := tracing.Open(t.Context(), "v1", nil); err == nil || !strings.Contains(err.Error(), "use http/protobuf") {
		t.Errorf("got %v, want an error that says what to use", err)
	}
}
