package httpapi_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
)

func TestSearchPage(t *testing.T) {
	for _, c := range []struct {
		target string
		want   []string
	}{
		{"/search", []string{"What to ask", "autofocus", `<option value="keyword" selected>`}},
		{"/search?q=a+b&patternType=regexp&case=yes", []string{`value="a b"`, `<option value="regexp" selected>`, `value="yes" checked`, "<title>a b - trawl</title>"}},
		{"/search?q=x&patternType=literal&sm=1&context=%40ann", []string{`<option value="literal" selected>literal<`, `name="sm" value="1"`, `name="context" value="@ann"`}},
		{"/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", []string{`value="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"`}},
	} {
		resp := serve(newServer(nothing), "GET", c.target)
		page := bodyOf(t, resp)
		checkPolicy(t, resp, page)
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("GET %s: the page has no %s:\n%s", c.target, want, page)
			}
		}
	}
}

// What the address adds to the query is kept with it; a query that no form takes has no
// link to one, and where there are no users there is none either.
func TestSearchPageLeadsToKeeping(t *testing.T) {
	site := newSite(t, nothing)
	site.Gate = &auth.Gate{Anonymous: auth.AnonymousYes, Registry: site.Gate.Registry}
	s := site.Server
	for target, want := range map[string]string{
		"/search?q=a+b&patternType=regexp&case=yes&context=@ann": "patternType:regexp context:@ann a b case:yes",
		"/search?q=%22%3C+patternType:standard":                  `"< patternType:standard`,
		"/search?q=x&patternType=literal":                        "x",
		"/search/list?q=x":                                       "patternType:keyword x",
	} {
		page := bodyOf(t, serve(s, "GET", target))
		m := regexp.MustCompile(`<p id="keep"[^>]*><a href="/user/searches\?query=([^"]*)#new">`).FindStringSubmatch(page)
		if m == nil {
			t.Errorf("GET %s: no link:\n%s", target, page)
			continue
		}
		got, err := url.QueryUnescape(html.UnescapeString(m[1]))
		if err != nil || got != want {
			t.Errorf("GET %s leads to the query %q, %v; want %q", target, got, err, want)
		}
	}
	background := bodyOf(t, serve(s, "GET", "/search?q=a+count:7+timeout:1s"))
	if want := `<a href="/user/jobs?query=patternType%3akeyword%20a#new">`; !strings.Contains(background, want) {
		t.Errorf("the page has no %s:\n%s", want, background)
	}
	for _, target := range []string{"/search", "/search?q=" + strings.Repeat("x", 16<<10)} {
		// what waits in a template has its query once something is typed
		page := regexp.MustCompile(`(?s)<template.*</template>`).ReplaceAllString(bodyOf(t, serve(s, "GET", target)), "")
		if strings.Contains(page, "/user/searches") {
			t.Errorf("GET %.40s: the page leads to a form that does not take it", target)
		}
	}
	if page := bodyOf(t, serve(newServer(nothing), "GET", "/search?q=x")); strings.Contains(page, "/user/searches") {
		t.Error("without users there is a link to saved searches")
	}
}

// Search contexts are there to choose from. That of the address is chosen, also one that
// is not offered; else, before a search, the default one.
func TestSearchPageOffersContexts(t *testing.T) {
	s := newServer(nothing)
	s.Contexts = func(*http.Request) ([]string, string) { return []string{"@ann/<b>", "main"}, "main" }
	for target, want := range map[string]string{
		"/search":                       `<option value="main" selected>`,
		"/search?context=":              `<option value="">Everywhere</option>`,
		"/search?q=x":                   `<option value="main">main</option>`,
		"/search?q=x&context=@ann/<b>":  `<option value="@ann/&lt;b&gt;" selected>@ann/&lt;b&gt;</option>`,
		"/search?q=x&context=@bob/kept": `<option value="@bob/kept" selected>@bob/kept</option>`,
		"/search/list?q=x&context=main": `<option value="main" selected>`,
	} {
		if page := bodyOf(t, serve(s, "GET", target)); !strings.Contains(page, want) || strings.Count(page, `name="context"`) != 1 {
			t.Errorf("GET %s: the page has no %s, or not one choice:\n%s", target, want, page)
		}
	}
	if page := bodyOf(t, serve(s, "GET", "/search?q=x&context=")); strings.Contains(page, `<option value="main" selected>`) {
		t.Error("a search everywhere shows the default context")
	}
}

// The examples are queries that can be asked.
func TestSearchExamples(t *testing.T) {
	page := bodyOf(t, serve(newServer(nothing), "GET", "/search"))
	found := regexp.MustCompile(`<dt><a href="/search\?q=([^"]*)">`).FindAllStringSubmatch(page, -1)
	if len(found) < 5 {
		t.Fatalf("the page has %d examples:\n%s", len(found), page)
	}
	for _, f := range found {
		text, err := url.QueryUnescape(html.UnescapeString(f[1]))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := syntax.Parse(text, query.Keyword); err != nil {
			t.Errorf("the example %q: %v", text, err)
		}
	}
}

func TestHome(t *testing.T) {
	s := newServer(nothing)
	for from, want := range map[string]string{"/": "/search", "/?q=a+b&x=%2F": "/search?q=a+b&x=%2F"} {
		if resp := serve(s, "GET", from); resp.StatusCode != 307 || resp.Header.Get("Location") != want {
			t.Errorf("GET %s: %d to %q, want 307 to %q", from, resp.StatusCode, resp.Header.Get("Location"), want)
		}
	}
	s = newServer(nothing)
	s.ExternalURL = "https://example.org/code/"
	if got := serve(s, "GET", "/").Header.Get("Location"); got != "/code/search" {
		t.Errorf("below a path, / leads to %q, want /code/search", got)
	}
	if page := bodyOf(t, serve(s, "GET", "/search?q=x")); strings.Contains(page, `"/-/assets`) || !strings.Contains(page, `src="/code/-/assets/`) || !strings.Contains(page, `data-base="/code"`) {
		t.Errorf("below a path, the page is\n%s", page)
	}
}
