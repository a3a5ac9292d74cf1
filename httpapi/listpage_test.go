package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
)

func TestList(t *testing.T) {
	long := strings.Repeat("é", 5000) + "glaze" + strings.Repeat("ü", 5000)
	evil := &query.FileMatch{Repo: &query.Repository{ID: 1, Name: `"><script>x</script>`}, Path: `javascript:alert(1)/"onmouseover="x`, Rev: "<i>", Chunks: []query.Chunk{{
		Content: []byte("</code><script>glaze\n"), Ranges: []query.Range{span(at(15, 0, 15), at(20, 0, 20))},
	}}}
	wide := &query.FileMatch{Repo: kiln, Path: "wide", Chunks: []query.Chunk{{Content: []byte(long), Ranges: []query.Range{span(at(10000, 0, 5000), at(10005, 0, 5005))}}}}
	symbols := &query.FileMatch{Repo: kiln, Path: "a b.go", Symbols: []query.Symbol{{Name: "Fire", Line: 3, Kind: "function"}}}
	for _, c := range []struct {
		name, target string
		do           searcher
		want, not    []string
	}{
		{"results", "?q=glaze", script(search.Outcome{}, after(0, found(append([]query.Match{glazeContent(), glazePath(), glazeRepo(), symbols}, glazeCommits()...)...)), after(0, finish(true))), []string{
			`<a class="path" href="/git.example.org/lab/kiln@v2/-/blob/cmd/glaze/main.go">`,
			`<a class="no" href="/git.example.org/lab/kiln@v2/-/blob/cmd/glaze/main.go?L3" aria-label="line 3">3</a><code>// ½ cup of <mark>glaze</mark>, see &lt;<mark>glaze</mark>&gt; below</code>`,
			`<a class="path" href="/git.example.org/lab/glaze-db@v2"><bdi>git.example.org/lab/glaze-db</bdi></a>`, `Recipes &amp; tests`,
			`href="/git.example.org/lab/kiln/-/blob/a%20b.go?L3" aria-label="line 3">3</a><code>function Fire</code>`,
			`href="/git.example.org/lab/kiln/-/commit/` + kilnCommit + `"><bdi>Stoke the kiln - Ada Muster, 29 Dec 1999</bdi>`, `<code>It was too cold for glaze.</code>`,
		}, []string{"More results", "Earlier", "Not everything"}},
		{"long lines", "?q=glaze", script(search.Outcome{}, after(0, found(wide)), after(0, finish(true))), []string{
			`<code class="before behind">` + strings.Repeat("é", 60) + `<mark>glaze</mark>` + strings.Repeat("ü", 235) + `</code>`,
		}, nil},
		{"strangers", "?q=" + `"><script>`, script(search.Outcome{}, after(0, found(evil)), after(0, finish(true))), []string{
			`&lt;/code&gt;&lt;script&gt;<mark>glaze</mark>`, `value="&#34;&gt;&lt;script&gt;"`,
		}, []string{"<script>x", `"onmouseover`, "<i>", `href="javascript`}},
		{"nothing", "?q=x", nothing, []string{"0 results"}, nil},
		{"a limit", "?q=x", script(search.Outcome{}, after(0, limited)), []string{"Not everything was searched or is shown", "<strong>limit hit</strong><p>more, &#34;much&#34;</p>"}, nil},
		{"a bad query", "?q=count:none", nothing, []string{"Unable To Process Query", "Field count has value none"}, nil},
		{"what the address says", "?q=x&case=yes&context=c&patternType=regexp&from=0", func(_ context.Context, q *query.Query, o search.Options, _ answer.Sink) search.Outcome {
			return search.Outcome{Alert: &query.Alert{Title: q.Text, Description: string(q.PatternType)}}
		}, []string{"<h2>context:c x case:yes</h2><p>regexp</p>"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp := serve(newServer(c.do), "GET", "/search/list"+strings.ReplaceAll(strings.ReplaceAll(c.target, `"`, "%22"), "<", "%3C"))
			body := bodyOf(t, resp)
			if resp.StatusCode != 200 {
				t.Fatalf("status %d: %s", resp.StatusCode, body)
			}
			for _, want := range c.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in\n%s", want, body)
				}
			}
			for _, not := range append(c.not, "<script>") {
				if strings.Contains(body, not) {
					t.Errorf("%q in\n%s", not, body)
				}
			}
		})
	}
}

// Page after page shows each result once, in order, to the last, however many matches
// it has, and though one that is too large for an event comes in parts.
func TestListPages(t *testing.T) {
	const results = 137
	huge := func(path string) *query.FileMatch {
		m := &query.FileMatch{Repo: kiln, Path: path}
		for n := range uint32(40) {
			m.Chunks = append(m.Chunks, query.Chunk{Content: []byte(strings.Repeat("y", 60<<10) + "x\n"), Start: at(n<<16, n, 0),
				Ranges: []query.Range{span(at(n<<16+60<<10, n, 60<<10), at(n<<16+60<<10+1, n, 60<<10+1))}})
		}
		return m
	}
	s := newServer(func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		if o.Display >= 0 {
			t.Errorf("%d results are asked for, want all", o.Display)
		}
		for i := range results {
			m := &query.FileMatch{Repo: kiln, Path: fmt.Sprintf("f%d", i)}
			if i%30 == 20 {
				m = huge(m.Path)
			}
			found(m)(o, sink)
		}
		o.Report.Finish(true)
		return search.Outcome{}
	})
	var got []string
	next := "/search/list?q=x&case=yes"
	for pages := 0; next != ""; pages++ {
		if pages > 3 {
			t.Fatal("there is no last page")
		}
		body := bodyOf(t, serve(s, "GET", next))
		if lines := strings.Count(body, "and 35 more lines"); lines != []int{1, 2, 1}[pages] {
			t.Errorf("page %d has %d results of 40 lines", pages, lines)
		}
		for _, m := range regexp.MustCompile(`<bdi>(f\d+)</bdi>`).FindAllStringSubmatch(body, -1) {
			got = append(got, m[1])
		}
		next = ""
		if m := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(body); m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
		if earlier := strings.Contains(body, `rel="prev"`); earlier != (pages > 0) {
			t.Errorf("page %d has an earlier one: %t", pages, earlier)
		}
	}
	for i, name := range got {
		if name != fmt.Sprintf("f%d", i) {
			t.Fatalf("result %d is %s", i, name)
		}
	}
	if len(got) != results {
		t.Errorf("%d results, want %d", len(got), results)
	}
	for target, status := range map[string]int{"?q=x&from=-1": 400, "?q=x&from=1e3": 400, "?q=x&from=10001": 400, "?q=x&from=10000": 200, "": 303, "?q=+": 303} {
		if resp := serve(s, "GET", "/search/list"+target); resp.StatusCode != status {
			t.Errorf("%s: status %d, want %d", target, resp.StatusCode, status)
		} else if status == http.StatusSeeOther && resp.Header.Get("Location") != "/search" {
			t.Errorf("%s leads to %s", target, resp.Header.Get("Location"))
		}
	}
}
