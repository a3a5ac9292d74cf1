package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/client"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type searcher func(context.Context, *query.Query, search.Options, answer.Sink) search.Outcome

func (f searcher) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	return f(ctx, q, o, sink)
}

// params returns parameters whose connections do not outlive the test.
func params(t *testing.T, text string) client.Params {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return client.Params{Query: text, HTTP: &http.Client{Transport: transport}}
}

// serve starts a server that answers with a fixed text.
func serve(t *testing.T, status int, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const commitURL = "/git.example.org/lab/kiln/-/commit/c0ffee0123"

func TestStreamReadsOurServer(t *testing.T) {
	team := "kiln"
	repo := &query.Repository{
		ID: 12, Name: "git.example.org/lab/kiln", Stars: 41, LastFetched: time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC),
		Description: "<Recipes>", Metadata: map[string]*string{"team": &team, "legacy": nil}, Topics: []string{"ceramics"},
	}
	r := query.Range{Start: query.Location{Offset: 27, Line: 2, Column: 12}, End: query.Location{Offset: 32, Line: 2, Column: 17}}
	content := &query.FileMatch{
		Repo: repo, Path: "a.go", Commit: "5f1c", Rev: "v2", Language: "Go",
		Chunks: []query.Chunk{{Content: []byte("// ½ cup of glaze\n"), Start: query.Location{Offset: 14, Line: 2}, Ranges: []query.Range{r}}},
	}
	made := time.Date(2021, 1, 31, 9, 30, 0, 0, time.UTC)
	commit := &query.CommitMatch{
		Repo: repo, OID: "c0ffee0123", Message: "a ½ b", Body: "a ½ b",
		Author: query.Signature{Name: "Ada", Date: made}, Committer: query.Signature{Name: "Bo", Date: made.Add(time.Minute)},
		Ranges: []query.Range{{Start: query.Location{Offset: 5, Column: 4}, End: query.Location{Offset: 6, Column: 5}}},
	}
	s := httptest.NewServer((&httpapi.Server{
		Now: func() time.Time { return made.Add(2 * 24 * time.Hour) },
		Searcher: searcher(func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
			m := []query.Match{content, &query.RepoMatch{Repo: repo}, commit, &query.OwnerMatch{Repo: repo, Handle: "lab/kiln", IsTeam: true}}
			o.Report.Add(m)
			o.Report.Exclude(0, 2)
			_ = sink.Send(m)
			o.Report.Finish(true)
			return search.Outcome{Alert: &query.Alert{Title: "Look", Proposed: []query.ProposedQuery{{Description: "d", Query: "q"}}}}
		}),
		Log: zerolog.Nop(),
	}).Handler())
	t.Cleanup(s.Close)

	var matches []client.Match
	var filters []client.Filter
	var progress client.Progress
	var alerts []client.Alert
	var trace, names string
	p := params(t, "glaze & co")
	p.Chunks = true
	err := client.Stream(t.Context(), s.URL+"/", p, client.Handler{
		Open:     func(h http.Header) error { trace = h.Get("X-Trace"); return nil },
		Event:    func(name string, _ []byte) error { names += name + " "; return nil },
		Matches:  func(m []client.Match) error { matches = append(matches, m...); return nil },
		Filters:  func(f []client.Filter) error { filters = f; return nil },
		Progress: func(p client.Progress) error { progress = p; return nil },
		Alert:    func(a client.Alert) error { alerts = append(alerts, a); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "filters matches filters progress alert done "; names != want {
		t.Errorf("events %s, want %s", names, want)
	}
	if len(matches) != 4 {
		t.Fatalf("got %d matches, want 4: %+v", len(matches), matches)
	}
	raw := string(matches[0].Raw)
	for i := range matches {
		matches[i].Raw = nil
	}
	fetched := repo.LastFetched
	at := func(l query.Location) client.Location {
		return client.Location{Offset: int(l.Offset), Line: int(l.Line), Column: int(l.Column)}
	}
	want := []client.Match{{
		Type: "content", Path: "a.go", RepositoryID: 12, Repository: repo.Name, RepoStars: 41, RepoLastFetched: &fetched,
		Branches: []string{"v2"}, Commit: "5f1c", Language: "Go",
		ChunkMatches: []client.ChunkMatch{{
			Content: "// ½ cup of glaze\n", ContentStart: client.Location{Offset: 14, Line: 2},
			Ranges: []client.Range{{Start: at(r.Start), End: at(r.End)}},
		}},
	}, {
		Type: "repo", RepositoryID: 12, Repository: repo.Name, RepoStars: 41, RepoLastFetched: &fetched, Description: "<Recipes>",
		Metadata: map[string]*string{"team": &team, "legacy": nil}, Topics: []string{"ceramics"},
	}, {
		Type: "commit", RepositoryID: 12, Repository: repo.Name, RepoStars: 41, RepoLastFetched: &fetched,
		CommitDetails: client.CommitDetails{
			Label:  "[lab/kiln](/git.example.org/lab/kiln) › [Ada](" + commitURL + "): [a ½ b](" + commitURL + ")",
			Detail: "[`c0ffee0` 2 days ago](" + commitURL + ")", URL: commitURL, OID: "c0ffee0123", Message: "a ½ b",
			AuthorName: "Ada", AuthorDate: made, CommitterName: "Bo", CommitterDate: made.Add(time.Minute),
			Content: "```COMMIT_EDITMSG\na ½ b\n```", Ranges: [][3]int{{1, 4, 1}},
		},
	}, {
		Type: "team", Owner: client.Owner{Handle: "lab/kiln"},
	}}
	if !reflect.DeepEqual(matches, want) {
		t.Errorf("got  %+v\nwant %+v", matches, want)
	}
	if !strings.HasPrefix(raw, `{"type":"content","path":"a.go"`) || !strings.HasSuffix(raw, `"language":"Go"}`) {
		t.Errorf("raw match %s, want all of it", raw)
	}
	if !progress.Done || progress.MatchCount != 4 || progress.RepositoriesCount != 1 || len(progress.Skipped) != 1 ||
		progress.Skipped[0].Suggested.QueryExpression != "archived:yes" || !strings.HasSuffix(progress.Trace, trace) {
		t.Errorf("last progress %+v", progress)
	}
	if len(filters) != 8 || !filters[0].Exhaustive || filters[0].Value != "archived:yes" {
		t.Errorf("last filters %+v", filters)
	}
	if len(alerts) != 1 || alerts[0].Title != "Look" || alerts[0].ProposedQueries[0] != (client.ProposedQuery{Description: "d", Query: "q"}) {
		t.Errorf("alerts %+v", alerts)
	}
}

func TestStreamSendsParameters(t *testing.T) {
	tests := []struct {
		params client.Params
		want   string
	}{
		// what is not set is not sent
		{client.Params{Query: "a b"}, "q=a+b"},
		{client.Params{}, "q="},

		// zero can be meant
		{client.Params{Query: "a", Display: new(0), ContextLines: new(0)}, "cl=0&display=0&q=a"},

		// everything
		{client.Params{Query: "a", Version: "V3", PatternType: "regexp", Display: new(7), MaxLineBytes: 200, Chunks: true, ContextLines: new(3)},
			"cl=3&cm=true&display=7&max-line-len=200&q=a&t=regexp&v=V3"},
	}
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, "event: done\ndata: {}\n\n")
	}))
	t.Cleanup(s.Close)
	for _, tt := range tests {
		tt.params.HTTP = params(t, "").HTTP
		tt.params.Header = http.Header{"Authorization": {"token T"}}
		if err := client.Stream(t.Context(), s.URL, tt.params, client.Handler{}); err != nil {
			t.Errorf("%+v: %v", tt.params, err)
			continue
		}
		if got.URL.Path != "/.api/search/stream" || got.URL.RawQuery != tt.want {
			t.Errorf("%+v\ngot  %s?%s\nwant %s", tt.params, got.URL.Path, got.URL.RawQuery, tt.want)
		}
		if got.Header.Get("Accept") != "text/event-stream" || got.Header.Get("Authorization") != "token T" {
			t.Errorf("%+v: header %v", tt.params, got.Header)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	ours := errors.New("ours")
	plain := client.Handler{
		Matches:  func([]client.Match) error { return nil },
		Progress: func(client.Progress) error { return nil },
	}
	tests := []struct {
		name    string
		status  int
		body    string
		handler client.Handler
		// check returns whether the error is the right one.
		check func(error) bool
	}{
		// ends
		{"done", 200, "event: done\ndata: {}\n\n", plain, func(err error) bool { return err == nil }},
		{"unknown events", 200, "event: new\ndata: ?\n\nevent: done\ndata: {}\n\n", plain, func(err error) bool { return err == nil }},
		{"nothing after done", 200, "event: done\ndata: {}\n\nevent: matches\ndata: ?\n\n", plain, func(err error) bool { return err == nil }},
		{"cut off", 200, "event: progress\ndata: {}\n\n", plain, func(err error) bool { return errors.Is(err, client.ErrCutOff) }},
		{"empty", 200, "", plain, func(err error) bool { return errors.Is(err, client.ErrCutOff) }},

		// the server's errors
		{"error event", 200, "event: error\ndata: {\"message\":\"no query found\"}\n\nevent: done\ndata: {}\n\n", plain, func(err error) bool {
			var e *client.ServerError
			return errors.As(err, &e) && e.Message == "no query found"
		}},
		{"error event, cut off", 200, "event: error\ndata: {\"message\":\"m\"}\n\n", plain, func(err error) bool {
			var e *client.ServerError
			return errors.As(err, &e) && errors.Is(err, client.ErrCutOff)
		}},
		{"status", 503, "opening store\n", plain, func(err error) bool {
			var e *client.StatusError
			return errors.As(err, &e) && e.Status == 503 && e.Message == "opening store"
		}},

		// what cannot be decoded
		{"bad progress", 200, "event: progress\ndata: [\n\n", plain, func(err error) bool { return err != nil && strings.Contains(err.Error(), "progress") }},
		{"bad match", 200, "event: matches\ndata: [{\"type\":7}]\n\n", plain, func(err error) bool { return err != nil && strings.Contains(err.Error(), `{"type":7}`) }},
		{"no handler", 200, "event: progress\ndata: [\n\nevent: done\ndata: {}\n\n", client.Handler{}, func(err error) bool { return err == nil }},

		// the handler's
		{"event", 200, "event: x\ndata: 1\n\n", client.Handler{Event: func(string, []byte) error { return ours }}, func(err error) bool { return errors.Is(err, ours) }},
		{"matches", 200, "event: matches\ndata: []\n\n", client.Handler{Matches: func([]client.Match) error { return ours }}, func(err error) bool { return errors.Is(err, ours) }},
		{"open", 200, "", client.Handler{Open: func(http.Header) error { return ours }}, func(err error) bool { return errors.Is(err, ours) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := client.Stream(t.Context(), serve(t, tt.status, tt.body), params(t, "x"), tt.handler)
			if !tt.check(err) {
				t.Errorf("status %d, body %q: got %v", tt.status, tt.body, err)
			}
		})
	}
}

func TestStreamStopsWithItsContext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "event: progress\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	err := client.Stream(ctx, s.URL, params(t, "x"), client.Handler{
		Progress: func(client.Progress) error { cancel(); return nil },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestStreamBadURL(t *testing.T) {
	if err := client.Stream(t.Context(), "http://bad url", params(t, "x"), client.Handler{}); err == nil {
		t.Errorf("a bad URL gave no error")
	}
}
