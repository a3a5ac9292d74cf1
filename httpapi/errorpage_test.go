package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/web"
	"github.com/trawlsearch/trawl/store/git"
)

const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// Errors that a browser shows are pages with navigation; programs get a line of
// text.
func TestErrorsInABrowserHaveNavigation(t *testing.T) {
	s := newServer(nothing)
	s.Extra = []httpapi.Route{
		{Method: "GET", Path: "/broken", Handler: func(http.ResponseWriter, *http.Request) error { return errors.New("secret cause") }},
		{Method: "GET", Path: "/gone", Handler: func(http.ResponseWriter, *http.Request) error {
			return fmt.Errorf("secret cause: %w at /secret/folder", git.ErrNotRepository)
		}},
		{Method: "GET", Path: "/busy", Handler: func(http.ResponseWriter, *http.Request) error {
			return fmt.Errorf("secret cause: %w", git.ErrBusy)
		}},
		{Method: "GET", Path: "/costly", Handler: func(http.ResponseWriter, *http.Request) error {
			return fmt.Errorf("secret cause: %w", git.ErrTooCostly)
		}},
		{Method: "GET", Path: "/panics", Handler: func(http.ResponseWriter, *http.Request) error { panic("secret cause") }},
		{Method: "POST", Path: "/form", Handler: func(http.ResponseWriter, *http.Request) error {
			return &httpapi.Error{Status: http.StatusForbidden, Message: "not from <there>"}
		}},
		{Method: "GET", Path: "/a/-/raw/b", Handler: func(http.ResponseWriter, *http.Request) error {
			return &httpapi.Error{Status: http.StatusNotFound, Message: "no file"}
		}},
	}
	handler := s.Handler()
	for _, c := range []struct {
		method, path, accept string
		status               int
		want                 string // what the answer holds
		page                 bool
	}{
		{"GET", "/no/such/page", browserAccepts, 404, "Page not found", true},
		{"GET", "/broken", browserAccepts, 500, "Internal error", true},
		{"GET", "/gone", browserAccepts, 503, "only what is indexed can be shown", true},
		{"GET", "/busy", browserAccepts, 503, "try again in a few seconds", true},
		{"GET", "/costly", browserAccepts, 413, "more of git&#39;s memory or time", true},
		{"GET", "/panics", browserAccepts, 500, "Internal error", true},
		{"POST", "/form", browserAccepts, 403, "Not from &lt;there&gt;", true},
		{"POST", "/search", browserAccepts, 405, "does not take POST", true},
		{"GET", "/-/trace/0", browserAccepts, 404, "Not Found", true},
		{"GET", "/no/such/page", "", 404, "page not found\n", false},
		{"GET", "/broken", "*/*", 500, "internal error\n", false},
		{"POST", "/search", "*/*", 405, "", false},
		{"GET", "/a/-/raw/b", browserAccepts, 404, "No file", true},
		{"GET", "/a/-/raw/b", "*/*", 404, "no file\n", false},
		{"GET", "/.api/no/such/route", browserAccepts, 404, "no route\n", false},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		got := w.Body.String()
		framed := strings.Contains(got, `<nav aria-label="Site">`) && strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
		if busy := c.path == "/busy"; busy != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", c.path, w.Header().Get("Retry-After"))
		}
		if w.Code != c.status || framed != c.page || !strings.Contains(got, c.want) || !c.page && got != c.want {
			t.Errorf("%s %s for %q: got %d %s, want %d and %q, in the frame: %t", c.method, c.path, c.accept, w.Code, got, c.status, c.want, c.page)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s %s tells the cause: %s", c.method, c.path, got)
		}
	}
}

// A page that panics gives its compressor back.
func TestPanicKeepsNoCompressor(t *testing.T) {
	s := newServer(nothing)
	s.Compressors = 1
	for path, text := range map[string]string{"/breaks": `{{`, "/whole": `{{define "title"}}W{{end}}{{define "main"}}W{{end}}`} {
		pages := web.NewTemplates(fstest.MapFS{"p/one.html": {Data: []byte(text)}}, "p", nil)
		s.Extra = append(s.Extra, httpapi.Route{Method: "GET", Path: path, Handler: func(w http.ResponseWriter, r *http.Request) error {
			return s.ServePage(w, r, pages, web.View{Page: "one.html", Compress: true})
		}})
	}
	handler := s.Handler()
	for _, c := range []struct {
		path, encoding string
		status         int
	}{{"/breaks", "", 500}, {"/breaks", "", 500}, {"/whole", "gzip", 200}} {
		r, w := httptest.NewRequest("GET", c.path, nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", "gzip")
		handler.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Encoding"); w.Code != c.status || got != c.encoding {
			t.Errorf("%s: got %d encoded as %q, want %d and %q", c.path, w.Code, got, c.status, c.encoding)
		}
	}
}
