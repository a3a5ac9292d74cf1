package help_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/help"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

// nowhere is never searched.
type nowhere struct{ httpapi.Searcher }

func get(t *testing.T, path string) (int, string) {
	t.Helper()
	s := &httpapi.Server{Searcher: nowhere{}, Log: zerolog.Nop()}
	s.Extra = (&help.Book{Server: s, Limits: cost.NewCurrent(cost.Limits{Aliases: 77})}).Routes()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestPages(t *testing.T) {
	for path, want := range map[string]string{
		help.Path: `href="/help/query"`, help.QueryPath: `id="filters"`, help.StreamPath: "http://example.com/.api/search/stream", help.GraphQLPath: `id="cost-limits"`,
	} {
		if code, page := get(t, path); code != 200 || !strings.Contains(page, want) {
			t.Errorf("%s: got %d without %s: %s", path, code, want, page)
		}
	}
	_, page := get(t, help.GraphQLPath)
	for _, n := range []string{">30<", ">500000<", ">77<", ">500<"} {
		if !strings.Contains(page, n) {
			t.Errorf("the limits do not have %s: %s", n, page)
		}
	}
}

// Every query that the page shows is one.
func TestQueries(t *testing.T) {
	_, page := get(t, help.QueryPath)
	shown := regexp.MustCompile(`<code>([^<]*)</code>`).FindAllStringSubmatch(page, -1)
	if len(shown) < 30 {
		t.Fatalf("the page shows %d queries", len(shown))
	}
	for _, m := range shown {
		text := html.UnescapeString(m[1])
		if text == "@" {
			continue
		}
		if strings.HasPrefix(text, "author:") || strings.Contains("committer:ada message:fix before:yesterday after:\"2 weeks ago\"", text) {
			text += " type:commit"
		}
		if _, err := syntax.Parse(text, query.Keyword); err != nil {
			t.Errorf("the query %s: %v", text, err)
		}
	}
}
