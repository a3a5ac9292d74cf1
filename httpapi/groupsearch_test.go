package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

func TestGroups(t *testing.T) {
	whole := script(search.Outcome{}, after(0, found(append([]query.Match{glazeContent(), glazePath(), glazeRepo()}, glazeCommits()...)...)), after(0, finish(true)))
	for _, c := range []struct {
		target string
		do     searcher
		status int
		want   string
	}{
		{"?by=repo&q=x", whole, 200, `[{git.example.org/lab/kiln  6 repo:^git\.example\.org/lab/kiln$} {git.example.org/lab/glaze-db  1 repo:^git\.example\.org/lab/glaze-db$}] 2 0 0 true`},
		{"?by=file&q=x", whole, 200, `[{cmd/glaze/main.go git.example.org/lab/kiln 3 repo:^git\.example\.org/lab/kiln$ file:^cmd/glaze/main\.go$} {docs/glaze.md git.example.org/lab/kiln 1 repo:^git\.example\.org/lab/kiln$ file:^docs/glaze\.md$}] 2 0 3 true`},
		{"?by=author&q=x", whole, 200, `[{Ada Muster  2 author:"^Ada Muster$"}] 1 0 5 true`},
		{"?by=repo&q=x", script(search.Outcome{Alert: &query.Alert{Title: "The query may be mistyped", Advice: true}}, after(0, found(glazeContent())), after(0, finish(true))), 200, `[{git.example.org/lab/kiln`},
		{"?by=author&q=x", script(search.Outcome{Alert: &query.Alert{Title: "The query may be mistyped", Advice: true}}, after(0, finish(true))), 200, `[] 0 0 0 true`},
		{"?by=repo&q=x", script(search.Outcome{}, after(0, limited)), 200, `[] 0 0 0 false`},
		{"?by=capture&q=x", whole, 400, "the query needs one regular expression with a group"},
		{"?by=tree&q=x", whole, 400, "by must be repo, file, author or capture"},
		{"?by=repo", whole, 400, "no query found"},
		{"?by=repo&q=count:none", whole, 400, "Unable To Process Query: Field count has value none"},
		{"?by=repo&q=x", script(search.Outcome{Err: errors.New("secret detail")}), 500, "internal error"},
	} {
		resp := serve(newServer(c.do), "GET", "/.api/search/groups"+c.target)
		body := bodyOf(t, resp)
		if resp.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.target, resp.StatusCode, c.status, body)
			continue
		}
		got := body
		if c.status == 200 {
			var a struct {
				Groups []struct {
					Value, Repository string
					Count             int
					Filter            string
				}
				GroupsCount, Others, Without int
				Exact                        bool
			}
			if err := json.Unmarshal([]byte(body), &a); err != nil {
				t.Fatal(err)
			}
			got = fmt.Sprint(a.Groups, a.GroupsCount, a.Others, a.Without, a.Exact)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.target, got, c.want)
		}
	}
}

// A count that panics does not seem to run for ever.
func TestGroupsThatPanic(t *testing.T) {
	s := newServer(func(context.Context, *query.Query, search.Options, answer.Sink) search.Outcome {
		panic("secret detail")
	})
	s.Random = nil
	resp := serve(s, "GET", "/.api/search/groups?by=repo&q=x")
	if body := bodyOf(t, resp); resp.StatusCode != http.StatusInternalServerError || body != "internal error\n" {
		t.Errorf("got %d %q, want 500 and no detail", resp.StatusCode, body)
	}
	page := bodyOf(t, serve(s, "GET", "/-/trace/"+resp.Header.Get("X-Trace")))
	if !strings.Contains(page, `<dd id="outcome">failed after`) {
		t.Errorf("the trace is\n%s", page)
	}
}
