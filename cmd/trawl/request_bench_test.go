package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/store/ingest"
)

// BenchmarkRequest asks a server with all its routes, watches and its log, and a
// store of one file, for small answers: layer=handler is without a network, and
// layer=connection over one that stays open, beside a server that answers with
// the same bytes and does nothing else.
func BenchmarkRequest(b *testing.B) {
	h := smallHost(b)
	handler := h.server.Handler()
	for _, bb := range []struct{ name, target, want string }{
		{"healthz", "/healthz", "ok\n"},
		{"absent", "/.api/search/stream?v=V3&t=keyword&cm=true&cl=0&q=quuxfrobnicate", `"matchCount":0`},
		{"one", "/.api/search/stream?v=V3&t=keyword&cm=true&cl=0&q=" + url.QueryEscape("type:file count:1 glaze"), `"matchCount":1`},
	} {
		b.Run("answer="+bb.name+"/layer=handler", func(b *testing.B) {
			r := httptest.NewRequest("GET", bb.target, nil)
			r.Host, r.RemoteAddr = "127.0.0.1:7080", "127.0.0.1:40000"
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, r); !bytes.Contains(w.Body.Bytes(), []byte(bb.want)) {
				b.Fatalf("got %d and %s, want %s", w.Code, w.Body, bb.want)
			}
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(&sent{header: http.Header{}}, r)
			}
		})
		b.Run("answer="+bb.name+"/layer=connection", func(b *testing.B) {
			askOpen(b, handler, bb.target)
		})
		b.Run("answer="+bb.name+"/layer=floor", func(b *testing.B) {
			r := httptest.NewRequest("GET", bb.target, nil)
			r.Host, r.RemoteAddr = "127.0.0.1:7080", "127.0.0.1:40000"
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			body := w.Body.Bytes()
			askOpen(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }), bb.target)
		})
	}
}

// smallHost is a server that listens and serves nobody, with a store of one file.
func smallHost(b *testing.B) *host {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes, set.Listen = b.TempDir(), 0, "127.0.0.1:0"
	h := &host{set: set, output: output{log: newLog(io.Discard, set, false, false)}}
	h.server = h.newServer()
	if err := h.server.Open(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := h.closeServer(); err != nil {
			b.Error(err)
		}
	})
	svc, err := h.openService(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := svc.Close(); err != nil {
			b.Error(err)
		}
	})
	dir := filepath.Join(b.TempDir(), "kiln")
	r := gitrepo.New(b, dir)
	r.Write("glaze.go", "package kiln\n\nfunc glaze() {}\n")
	r.Commit("first")
	if _, err := svc.Repositories().Add(b.Context(), dir); err != nil {
		b.Fatal(err)
	}
	if _, err := svc.Repositories().Sync(b.Context(), "kiln", func(ingest.Progress) {}); err != nil {
		b.Fatal(err)
	}
	h.backend.open(svc)
	return h
}

// askOpen asks a handler over one connection, one answer after the other.
func askOpen(b *testing.B, handler http.Handler, target string) {
	s := httptest.NewServer(handler)
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		resp, err := s.Client().Get(s.URL + target)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}

// sent is an answer without a reader.
type sent struct{ header http.Header }

func (s *sent) Header() http.Header         { return s.header }
func (s *sent) WriteHeader(int)             {}
func (s *sent) Flush()                      {}
func (s *sent) Write(p []byte) (int, error) { return len(p), nil }
