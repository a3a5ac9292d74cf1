package complete

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/navigate"
	"github.com/trawlsearch/trawl/httpapi/worldtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
)

func texts(items []Item) (out []string) {
	for _, i := range items {
		out = append(out, i.Text)
	}
	return out
}

// Each word asks one question at most, and what is found becomes text that means it.
func TestFoundItems(t *testing.T) {
	matches := []query.Match{
		&query.FileMatch{Path: "old/kiln.go", Symbols: []query.Symbol{{Name: "FireAll"}, {Name: "operator()"}, {Name: "Fire"}}},
		&query.FileMatch{Path: "kiln.go", Symbols: []query.Symbol{{Name: "FireAll"}}},
		&query.FileMatch{Path: "a b(1).go"},
		&query.CommitMatch{Author: query.Signature{Name: "Ann O. Kiln"}, Committer: query.Signature{Name: "Bob"}},
		&query.CommitMatch{Author: query.Signature{Name: "Ann O. Kiln"}, Committer: query.Signature{Name: "Bob"}},
	}
	for _, c := range []struct {
		text, asked string
		want        []string
	}{
		{"file:kiln", "type:path count:200 file:kiln timeout:500ms", []string{"file:^kiln\\.go$ ", "file:^old/kiln\\.go$ ", `file:"^a b\\(1\\)\\.go$" `}},
		{`-f:^kiln\.go$`, `type:path count:200 file:^kiln\.go$ timeout:500ms`, []string{"-file:^kiln\\.go$ ", "-file:^old/kiln\\.go$ ", `-file:"^a b\\(1\\)\\.go$" `}},
		{"repo:^lab$ x -lang:go type:diff author:ann", `-lang:go repo:^lab$ type:commit count:500 author:ann timeout:500ms`, []string{`author:"Ann O\\. Kiln" `}},
		{"committer:b", "type:commit count:500 committer:b timeout:500ms", []string{"committer:Bob "}},
		{"repo:has.path(x) fir", "repo:has.path(x) type:symbol case:no count:200 ^fir timeout:500ms", []string{"Fire ", "FireAll "}},
		{"-fir", "", nil},
		{"fi", "", nil},
		{"file:a.*[", `type:path count:200 file:a\.\*\[ timeout:500ms`, []string{"file:^kiln\\.go$ ", `file:"^a b\\(1\\)\\.go$" `, "file:^old/kiln\\.go$ "}},
		{"file:", "", nil},
		{"(a or b) fir", "type:symbol case:no count:200 ^fir timeout:500ms", []string{"Fire ", "FireAll "}},
		{"repo:lab", "", nil},
	} {
		asked := ""
		find := func(_ context.Context, text string) (*navigate.Answer, error) {
			if asked != "" {
				t.Errorf("%q asks twice", c.text)
			}
			asked = text
			if _, err := syntax.Parse(text, query.Regexp); err != nil {
				t.Errorf("%q asks %q: %v", c.text, text, err)
			}
			return &navigate.Answer{Matches: matches, Total: len(matches), Report: report.New(time.Now)}, nil
		}
		w := syntax.WordAt(c.text, len(c.text))
		items, incomplete := lookFor(t.Context(), find, w, c.text[:w.Span.Start])
		if got := texts(items); asked != c.asked || !slices.Equal(got, c.want) || incomplete {
			t.Errorf("%q asks %q and proposes %q, %v; want %q, %q", c.text, asked, got, incomplete, c.asked, c.want)
		}
	}
	failing := func(context.Context, string) (*navigate.Answer, error) { return nil, errors.New("busy") }
	if a := complete(t.Context(), "file:x", 6, repositoriesOf(), failing); !a.Incomplete || len(a.Items) != 0 {
		t.Errorf("without a turn: %v", a)
	}
}

// Files and people of a repository are proposed to those who may see it.
func TestFoundIsSeen(t *testing.T) {
	w := worldtest.New(t, worldtest.Options{})
	for _, name := range []string{"open", "secret"} {
		repo := w.Git(name)
		repo.Write(name+".txt", "glaze\n")
		repo.Commit("Add " + name)
		w.AddGit(name)
		w.Sync("lab/" + name)
	}
	ann := readerOfSecret(w)
	e := &Endpoint{Store: func() *store.Store { return w.Store }, Finder: navigate.Finder{Searcher: search.New(w.Store, search.Settings{Workers: 2})}}
	for _, c := range []struct {
		actor *auth.Actor
		text  string
		want  []string
	}{
		{&auth.Actor{User: ann}, "file:txt", []string{"file:^open\\.txt$ ", "file:^secret\\.txt$ "}},
		{&auth.Actor{User: ann}, "repo:secret file:txt", []string{"file:^secret\\.txt$ "}},
		{&auth.Actor{}, "file:txt", []string{"file:^open\\.txt$ "}},
		{&auth.Actor{}, "repo:secret file:txt", nil},
	} {
		_, a := answered(t, e, c.actor, c.text, "")
		for tries := 0; tries < 20 && a.Incomplete; tries++ { // half a second is little on a busy machine
			_, a = answered(t, e, c.actor, c.text, "")
		}
		got := texts(a.Items)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
