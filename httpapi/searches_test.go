package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
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
