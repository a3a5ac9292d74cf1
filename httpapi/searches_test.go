package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

func TestCannotFlush(t *testing.T) {
	rec := httptest.NewRecorder()
	w := unflushable{rec}
	newServer(nothing).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/search/stream?q=x", nil))
	if rec.Code != 500 || rec.Body.String() != "http flushing not supported\n" {
		t.Errorf("got %d %q, want 500 and why", rec.Code, rec.Body)
	}
}

// TestTooManyStreams: while as many answers to searches are read as may be, who asks for
// another is told when to try again, whatever the form of the answer.
func TestTooManyStreams(t *testing.T) {
	begun := make(chan struct{})
	s := newServer(func(ctx context.Context, _ *query.Query, _ search.Options, _ answer.Sink) search.Outcome {
		close(begun)
		<-ctx.Done()
		return search.Outcome{}
	})
	s.Streams.Open = 1
	h := s.Handler()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/.api/search/stream?q=x", nil))
	}()
	<-begun
	for _, path := range []string{"/.api/search/stream", "/search/stream", "/.api/search/export", "/.api/search/groups", "/search/list"} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", path+"?q=x&by=repo&format=csv", nil))
		if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") != "5" || !strings.Contains(rec.Body.String(), "too many searches are being read") {
			t.Errorf("%s answers %d, Retry-After %q: %s\nwant 503, 5 and why", path, rec.Code, rec.Header().Get("Retry-After"), rec.Body)
		}
	}
	cancel()
	<-done
}

// unflushable is a response whose bytes cannot be made to leave.
type unflushable struct{ w http.ResponseWriter }

func (u unflushable) Header() http.Header         { return u.w.Header() }
func (u unflushable) Write(p []byte) (int, error) { return u.w.Write(p) }
func (u unflushable) WriteHeader(status int)      { u.w.WriteHeader(status) }

// BenchmarkSmallAnswer asks a server over a connection that stays open for
// answers that are over in no time: what HTTP adds to a search.
func BenchmarkSmallAnswer(b *testing.B) {
	for _, bb := range []struct {
		name string
		do   searcher
	}{
		{"nothing", nothing},
		{"one", func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
			found(glazeContent())(o, sink)
			o.Report.Finish(true)
			return search.Outcome{}
		}},
	} {
		b.Run("matches="+bb.name, func(b *testing.B) {
			s := newServer(bb.do)
			open(b, s)
			transport := &http.Transport{DisableCompression: true}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			b.ReportAllocs()
			for b.Loop() {
				resp, err := client.Get(s.URL() + "/search/stream?q=x")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
				resp.Body.Close()
			}
		})
	}
}
