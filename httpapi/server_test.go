package httpapi_test

import (
	"bytes"
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

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
)

// fixedIDs makes every trace id the same.
type fixedIDs struct{}

func (fixedIDs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i*0x22 + 1)
	}
	return len(p), nil
}

// newServer returns a server that is not open.
func newServer(do searcher) *httpapi.Server {
	return &httpapi.Server{
		Addr:     "127.0.0.1:0",
		Searcher: do,
		Log:      zerolog.Nop(),
		Random:   fixedIDs{},
	}
}

// open opens a server for the length of a test.
func open(t testing.TB, s *httpapi.Server) {
	t.Helper()
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// newClient returns a client that keeps no connection and follows no redirect.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func serve(s *httpapi.Server, method, target string) *http.Response {
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	return rec.Result()
}

func bodyOf(t testing.TB, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	return string(data)
}

func TestRoutes(t *testing.T) {
	tests := []struct {
		method, target string
		status         int
		// body is the whole body, "…" any.
		body string
	}{
		// what watches the process
		{"GET", "/healthz", 200, "ok\n"},
		{"HEAD", "/healthz", 200, "…"},
		{"GET", "/readyz", 200, "ready\n"},

		// pages
		{"GET", "/", 307, "…"},
		{"GET", "/search?q=x", 200, "…"},
		{"GET", "/help/api", 200, "…"},
		{"GET", "/-/assets/0/nothing.js", 404, "page not found\n"},
		{"GET", "/-/trace/0123", 404, "no trace with this id: only the newest searches are kept\n"},

		// streams, on both paths
		{"GET", "/.api/search/stream?q=x", 200, "…"},
		{"GET", "/search/stream?q=x", 200, "…"},

		// other methods get an empty body
		{"POST", "/.api/search/stream?q=x", 405, ""},
		{"HEAD", "/.api/search/stream?q=x", 405, ""},
		{"DELETE", "/search/stream", 405, ""},
		{"POST", "/", 405, ""},
		{"OPTIONS", "/search/stream", 405, ""},

		// OPTIONS is answered for anything below /.api/
		{"OPTIONS", "/.api/search/stream", 200, ""},
		{"OPTIONS", "/.api/nothing/here", 200, ""},

		// a slash too many
		{"GET", "/.api/search/stream/?q=x", 301, "…"},
		{"GET", "/search/stream/?q=x", 301, "…"},

		// what is not there
		{"GET", "/.api/", 404, "no route\n"},
		{"GET", "/.api/search", 404, "no route\n"},
		{"POST", "/.api/graphql", 404, "no route\n"},
		{"GET", "/favicon.ico", 404, "page not found\n"},
	}
	s := newServer(nothing)
	for _, tt := range tests {
		resp := serve(s, tt.method, tt.target)
		body := bodyOf(t, resp)
		if resp.StatusCode != tt.status || tt.body != "…" && body != tt.body {
			t.Errorf("%s %s\ngot  %d %q\nwant %d %q", tt.method, tt.target, resp.StatusCode, body, tt.status, tt.body)
		}
	}
}

func TestTrailingSlashKeepsTheQuery(t *testing.T) {
	resp := serve(newServer(nothing), "GET", "/.api/search/stream/?q=a+b&cm=t")
	if got := resp.Header.Get("Location"); !strings.HasSuffix(got, "/.api/search/stream?q=a+b&cm=t") {
		t.Errorf("redirected to %q, want the same query without the slash", got)
	}
}

func TestHeaders(t *testing.T) {
	tests := []struct {
		name           string
		method, target string
		origin         string
		want           map[string]string
	}{
		{"every answer", "GET", "/nothing", "", map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Xss-Protection": "1; mode=block", "X-Frame-Options": "DENY",
			"Access-Control-Allow-Origin": "-",
		}},
		{"api stream", "GET", "/.api/search/stream?q=x", "https://elsewhere.example", map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no",
			"X-Trace": fixedIDHex(16), "X-Trace-Url": "http://example.com/-/trace/" + fixedIDHex(16),
			"Vary": "Authorization, Cookie, X-Requested-With, Origin,Accept-Encoding", "Content-Encoding": "-",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Access-Control-Allow-Credentials": "true", "Access-Control-Allow-Origin": "https://elsewhere.example",
		}},
		{"page stream", "GET", "/search/stream?q=x", "https://elsewhere.example", map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "Access-Control-Allow-Credentials": "-", "Access-Control-Allow-Origin": "-",
		}},
		{"no origin", "GET", "/.api/search/stream?q=x", "", map[string]string{"Access-Control-Allow-Origin": ""}},
		{"options", "OPTIONS", "/.api/search/stream", "https://elsewhere.example", map[string]string{
			"Access-Control-Allow-Methods": "GET, POST, OPTIONS",
			"Access-Control-Allow-Headers": "Content-Type, Authorization, X-Sourcegraph-Should-Trace",
		}},
		{"options from the same origin", "OPTIONS", "/.api/search/stream", "http://example.com", map[string]string{
			"Access-Control-Allow-Headers": "X-Requested-With, X-Sourcegraph-Client, Content-Type, Authorization, X-Sourcegraph-Should-Trace",
		}},
		{"page", "GET", "/search", "", map[string]string{"Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"}},
	}
	s := newServer(nothing)
	s.Gate = &auth.Gate{Anonymous: auth.AnonymousYes, Reach: auth.Reach{Origins: []string{auth.AnyOrigin}}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, tt.target, nil)
			if tt.origin != "" {
				req.Header.Set("Origin", tt.origin)
			}
			rec := httptest.NewRecorder()
			s.Handler().ServeHTTP(rec, req)
			for name, want := range tt.want {
				got := "-"
				if values, ok := rec.Header()[name]; ok {
					got = strings.Join(values, ",")
				}
				if got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

// fixedIDHex is what fixedIDs makes of n bytes.
func fixedIDHex(n int) string {
	p := make([]byte, n)
	_, _ = fixedIDs{}.Read(p)
	var b strings.Builder
	for _, c := range p {
		b.WriteString(string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	return b.String()
}

func TestExternalURL(t *testing.T) {
	s := newServer(nothing)
	s.ExternalURL = "https://code.example.org/"
	resp := serve(s, "GET", "/.api/search/stream?q=x")
	want := "https://code.example.org/-/trace/" + fixedIDHex(16)
	if got := resp.Header.Get("X-Trace-URL"); got != want {
		t.Errorf("X-Trace-URL = %q, want %q", got, want)
	}
	if body := bodyOf(t, resp); !strings.Contains(body, `"trace":"`+want+`"`) {
		t.Errorf("no progress event links to %s in:\n%s", want, body)
	}
}

func TestOpening(t *testing.T) {
	var mu sync.Mutex
	what := "store /data"
	s := newServer(nothing)
	s.Opening = func() string {
		mu.Lock()
		defer mu.Unlock()
		return what
	}
	for _, target := range []string{"/readyz", "/.api/search/stream?q=x"} {
		resp := serve(s, "GET", target)
		if body := bodyOf(t, resp); resp.StatusCode != 503 || body != "opening store /data\n" {
			t.Errorf("%s while opening: %d %q, want 503 and what is being opened", target, resp.StatusCode, body)
		}
	}
	if resp := serve(s, "GET", "/healthz"); resp.StatusCode != 200 {
		t.Errorf("/healthz while opening: %d, want 200", resp.StatusCode)
	}
	mu.Lock()
	what = ""
	mu.Unlock()
	for _, target := range []string{"/readyz", "/.api/search/stream?q=x"} {
		if resp := serve(s, "GET", target); resp.StatusCode != 200 {
			t.Errorf("%s once open: %d, want 200", target, resp.StatusCode)
		}
	}
}

func TestExtraRoutes(t *testing.T) {
	s := newServer(nothing)
	s.Extra = []httpapi.Route{
		{Method: "POST", Path: "/-/admin/sync", About: "fetch now", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusAccepted)
			return nil
		}},
		{Method: "GET", Path: "/-/admin/fail", Handler: func(http.ResponseWriter, *http.Request) error {
			return errors.New("secret detail")
		}},
		{Method: "GET", Path: "/-/admin/refuse", Handler: func(http.ResponseWriter, *http.Request) error {
			return &httpapi.Error{Status: 409, Message: "a sync is running", Cause: errors.New("secret detail")}
		}},
		{Method: "GET", Path: "/-/admin/panic", Handler: func(http.ResponseWriter, *http.Request) error {
			panic("secret detail")
		}},
	}
	for _, tt := range []struct {
		method, target string
		status         int
		body           string
	}{
		{"POST", "/-/admin/sync", 202, ""},
		{"GET", "/-/admin/sync", 405, ""},
		{"GET", "/-/admin/fail", 500, "internal error\n"},
		{"GET", "/-/admin/refuse", 409, "a sync is running\n"},
		{"GET", "/-/admin/panic", 500, "internal error\n"},
	} {
		resp := serve(s, tt.method, tt.target)
		if body := bodyOf(t, resp); resp.StatusCode != tt.status || body != tt.body {
			t.Errorf("%s %s: got %d %q, want %d %q", tt.method, tt.target, resp.StatusCode, body, tt.status, tt.body)
		}
	}
	if body := bodyOf(t, serve(s, "GET", "/help/api")); !strings.Contains(body, "fetch now") {
		t.Errorf("the page at /help/api does not list the extra route:\n%s", body)
	}
}

func TestPanicAfterTheAnswerBeganCutsItOff(t *testing.T) {
	s := newServer(nothing)
	s.Extra = []httpapi.Route{{Method: "GET", Path: "/-/late", Handler: func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = io.WriteString(w, "half an")
		_ = http.NewResponseController(w).Flush()
		panic("secret detail")
	}}}
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/-/late")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("got %q as if it were the whole answer", body)
	}
}

func TestTakenPortIsAnError(t *testing.T) {
	s := newServer(nothing)
	open(t, s)
	second := newServer(nothing)
	second.Addr = strings.TrimPrefix(s.URL(), "http://")
	if err := second.Open(); err == nil || !strings.Contains(err.Error(), second.Addr) {
		t.Errorf("opening %s twice gave %v, want an error that names it", second.Addr, err)
	}
}

func TestCloseWithoutOpen(t *testing.T) {
	s := newServer(nothing)
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func TestQueryTooLong(t *testing.T) {
	s := newServer(nothing)
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/.api/search/stream?q=" + strings.Repeat("x", 300<<10))
	if err != nil {
		t.Fatal(err)
	}
	if body := bodyOf(t, resp); resp.StatusCode != 431 || !strings.Contains(body, "Too Large") {
		t.Errorf("a query of 300 KiB: %d %q, want 431", resp.StatusCode, body)
	}
	resp, err = newClient(t).Get(s.URL() + "/.api/search/stream?q=" + strings.Repeat("x", 200<<10))
	if err != nil {
		t.Fatal(err)
	}
	if body := bodyOf(t, resp); resp.StatusCode != 200 || !strings.HasSuffix(body, "event: done\ndata: {}\n\n") {
		t.Errorf("a query of 200 KiB: %d %q, want an answer", resp.StatusCode, body)
	}
}

func TestRequestLog(t *testing.T) {
	tests := []struct {
		target string
		level  zerolog.Level
		want   []string
		not    []string
	}{
		// the query is told at debug only
		{"/.api/search/stream?q=secret", zerolog.InfoLevel,
			[]string{`"method":"GET"`, `"route":"/.api/search/stream"`, `"status":200`, `"took_ms":`, `"matches":0`, `"outcome":"done"`, `"query_id":"`},
			[]string{"secret"}},
		{"/.api/search/stream?q=secret", zerolog.DebugLevel, []string{`"query":"secret"`}, nil},
		{"/-/trace/xyz", zerolog.InfoLevel, []string{`"route":"/-/trace/{id}"`, `"status":404`}, []string{"matches", "xyz"}},
		{"/nothing", zerolog.InfoLevel, []string{`"route":"none"`, `"status":404`}, nil},

		// what asks every few seconds is not logged
		{"/healthz", zerolog.InfoLevel, nil, []string{"request"}},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		s := newServer(nothing)
		s.Log = zerolog.New(&out).Level(tt.level)
		bodyOf(t, serve(s, "GET", tt.target))
		for _, part := range tt.want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s at %v: log has no %s:\n%s", tt.target, tt.level, part, out.String())
			}
		}
		for _, part := range tt.not {
			if strings.Contains(out.String(), part) {
				t.Errorf("%s at %v: log has %s:\n%s", tt.target, tt.level, part, out.String())
			}
		}
		if n := strings.Count(out.String(), `"message":"request"`); tt.want != nil && n != 1 {
			t.Errorf("%s at %v: %d request lines, want 1:\n%s", tt.target, tt.level, n, out.String())
		}
	}
}

// A person who watches the log sees what went wrong, not each request.
func TestQuietRequestsAreLoggedAtDebug(t *testing.T) {
	for _, tt := range []struct {
		target string
		level  zerolog.Level
		want   bool
	}{
		{"/.api/search/stream?q=x", zerolog.InfoLevel, false},
		{"/nothing", zerolog.InfoLevel, false},
		{"/.api/search/stream?q=x", zerolog.DebugLevel, true},
		{"/broken", zerolog.InfoLevel, true},
	} {
		var out bytes.Buffer
		s := newServer(nothing)
		s.Log, s.QuietRequests = zerolog.New(&out).Level(tt.level), true
		s.Extra = []httpapi.Route{{Method: "GET", Path: "/broken", Handler: func(http.ResponseWriter, *http.Request) error { return io.ErrUnexpectedEOF }}}
		bodyOf(t, serve(s, "GET", tt.target))
		if got := strings.Contains(out.String(), `"message":"request"`); got != tt.want {
			t.Errorf("%s at %v: logged %t, want %t:\n%s", tt.target, tt.level, got, tt.want, out.String())
		}
	}
}

// While it drains, a server answers as before and tells only who asks /readyz.
func TestDrain(t *testing.T) {
	s := newServer(nothing)
	ask := func(path string) (int, string) {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code, w.Body.String()
	}
	if code, body := ask("/readyz"); code != 200 || body != "ready\n" {
		t.Errorf("before: /readyz: got %d %q, want 200", code, body)
	}
	s.Drain()
	for path, want := range map[string]int{"/readyz": 503, "/healthz": 200, "/.api/search/stream?q=a": 200} {
		code, body := ask(path)
		if code != want || want == 503 && body != "stopping\n" {
			t.Errorf("draining: %s: got %d %q, want %d", path, code, body, want)
		}
	}
	if got := s.Unready(); got != "stopping" {
		t.Errorf("Unready: got %q, want stopping", got)
	}
}

// An observer hears of each request once, by its route, whatever was asked.
func TestObserver(t *testing.T) {
	heard := &listener{}
	s := &httpapi.Server{Searcher: searcher(nothing), Observer: heard}
	for _, target := range []string{"/healthz", "/no/such", "/.api/search/stream?q=a", "/.api/search/stream?q=count:x"} {
		s.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
	}
	want := []string{"/healthz 200 ", "none 404 ", "/.api/search/stream 200 done", "/.api/search/stream 200 refused"}
	if !slices.Equal(heard.all, want) || heard.begun != len(want) || heard.lost {
		t.Errorf("got %q of %d begun, context lost %t; want %q", heard.all, heard.begun, heard.lost, want)
	}
}

type listener struct {
	begun int
	lost  bool
	all   []string
}

type listenerKey struct{}

func (l *listener) Begin(r *http.Request) context.Context {
	l.begun++
	return context.WithValue(r.Context(), listenerKey{}, l)
}

func (l *listener) Answered(ctx context.Context, a httpapi.Answered) {
	l.lost = l.lost || ctx.Value(listenerKey{}) != l
	l.all = append(l.all, fmt.Sprintf("%s %d %s", a.Route, a.Status, a.Outcome))
}
