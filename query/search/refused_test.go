package search_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// oddValues are what people type where something else is expected.
var oddValues = []string{"x", "now", "2024-5-1", "-1", "0", "99999999999999999999", "*", "[", "(", "a(", "a)", `"a`, `a"`, "@", "@x", "a@", "a@:", "a@*", "a@*!x", "a@^b",
	"a@b@c", "HEAD~1", "..", "/", "//", "\\", `\1`, "(?=a)", "yes", "only", "file.x", "a,b,c", "é", "\xff", "x:y", "k:v:w", "path:a", "content:b", "file:c", "or", "not a", " "}

// TestEveryTextIsReadOrRefusedWithAPlace searches for every filter and predicate
// with every odd value. An answer without an alert is fine; an error that is no
// alert is one that people see as "internal error".
func TestEveryTextIsReadOrRefusedWithAPlace(t *testing.T) {
	c := newCorpus(t, 1000, nil, []doc{{repo: "example.org/one", path: "a.go", text: "package a\n"}})
	fields := []string{"repo", "r", "rev", "file", "lang", "content", "case", "type", "patterntype", "select", "fork", "archived", "visibility", "context", "index",
		"count", "timeout", "author", "committer", "message", "before", "after", "repohasfile", "repohascommitafter", "rule", "g"}
	predicates := []string{"repo:has", "repo:has.path", "repo:has.content", "repo:has.file", "repo:has.commit.after", "repo:contains.commit.after", "repo:has.description", "repo:has.meta",
		"repo:has.tag", "repo:has.key", "repo:has.topic", "repo:contains", "repo:contains.path", "repo:contains.content", "repo:contains.file", "repo:a rev:at.time",
		"file:has.content", "file:contains.content", "file:has.owner", "file:has.contributor"}
	var texts []string
	for _, v := range oddValues {
		for _, f := range fields {
			for _, form := range []string{"%s:%s a", "-%s:%s a", "%s:%s", "type:commit %s:%s a", "type:diff %s:%s", "type:symbol %s:%s a", "repo:one %s:%s a"} {
				texts = append(texts, fmt.Sprintf(form, f, v))
			}
		}
		for _, p := range predicates {
			for _, form := range []string{"%s(%s) a", "-%s(%s) a", "%s(%s)", "type:diff %s(%s) a"} {
				texts = append(texts, fmt.Sprintf(form, p, v))
			}
		}
		for _, pt := range []query.PatternType{query.Keyword, query.Standard, query.Regexp, query.Literal} {
			texts = append(texts, fmt.Sprintf("patterntype:%s %s", pt, v))
		}
	}
	for _, text := range texts {
		q, err := syntax.Parse(text, query.Keyword)
		if err != nil {
			var e *query.SyntaxError
			if !errors.As(err, &e) || e.Message == "" {
				t.Errorf("%q: %v, which is no syntax error", text, err)
			} else if e.Span == (query.Span{}) && e.Message != "unbalanced expression" {
				t.Errorf("%q: %v, without a place", text, err)
			}
			continue
		}
		out := search.New(c.st, search.Settings{}).Search(t.Context(), q, search.Options{Display: -1, Report: report.New(time.Now)},
			answer.SinkFunc(func([]query.Match) error { return nil }))
		var noContext *query.ContextError
		if out.Err != nil && !errors.As(out.Err, &noContext) {
			t.Errorf("%q: %v", text, out.Err)
		}
	}
}
