package stream

import (
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi/compress"
	"github.com/trawlsearch/trawl/httpapi/searchtest"
	"github.com/trawlsearch/trawl/httpapi/trace"
	"github.com/trawlsearch/trawl/query"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// Searches that tests script, and what they find.
type searcher = searchtest.Func

var (
	script, after, found, finish, nothing                  = searchtest.Script, searchtest.After, searchtest.Found, searchtest.Finish, searchtest.Nothing
	kiln, glazeContent, glazePath, glazeRepo, glazeCommits = searchtest.Kiln, searchtest.Content, searchtest.Path, searchtest.Repo, searchtest.Commits
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// golden compares got with testdata/name, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update after checking)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// fixedIDs makes every trace id the same.
type fixedIDs struct{}

func (fixedIDs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i*0x22 + 1)
	}
	return len(p), nil
}

// parse knows no syntax: a query is an error if it says so.
func parse(p Params) (*query.Query, error) {
	message, bad := strings.CutPrefix(p.Query, "syntax ")
	switch {
	case p.PatternType == "bad":
		return nil, &requestError{errors.New(`unrecognized patternType "bad"`)}
	case bad:
		return nil, &query.SyntaxError{Message: message, Hint: "try something else"}
	case p.Query == "broken":
		return nil, errors.New("secret detail")
	}
	return &query.Query{Text: p.Query, PatternType: query.PatternType(p.PatternType)}, nil
}

func options(do searcher) Options {
	return Options{
		Searcher:     do,
		Traces:       &trace.Store{Now: time.Now, Random: fixedIDs{}},
		Compressors:  compress.NewPool(64),
		WriteTimeout: time.Minute,
		Now:          time.Now,
	}
}

// handler answers with an endpoint.
func handler(o Options) http.Handler {
	e := New(o)
	e.parse = parse
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		release, err := e.Admit(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer release()
		e.Serve(w, r, &Summary{})
	})
}

// open serves an endpoint for the length of a test and returns its URL.
func open(t testing.TB, o Options) string {
	s := httptest.NewServer(handler(o))
	t.Cleanup(s.Close)
	return s.URL
}

// newClient returns a client that keeps no connection.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask returns the answer to a request.
func ask(o Options, target string) string {
	rec := httptest.NewRecorder()
	handler(o).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, target, nil))
	return rec.Body.String()
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
