package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/searchtest"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
)

func TestTracePage(t *testing.T) {
	s := newServer(func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		found(glazeContent())(o, sink)
		o.Report.Exclude(1, 0)
		o.Trace.Add(report.Step{Name: "shard <3>", Start: 2 * time.Millisecond, Took: 1500 * time.Microsecond, Fields: []report.Field{
			{Key: "candidates", Value: "17"}, {Key: "plan", Value: `(and "gla" <b>)`},
		}})
		o.Trace.Cover([]report.Coverage{
			{Repository: "lab/kiln", Revision: "v1<2", Commit: strings.Repeat("ab", 20), Documents: 12, Candidates: 7, Verified: 5,
				Unsearched: []report.Unsearched{{Reason: "binary", Documents: 3}, {Reason: "backend-missing"}}},
			{Repository: "lab/glaze", Documents: 2, Candidates: -1, Verified: -1},
		}, report.Rest{Repositories: 40, Documents: 900, Unsearchable: 30})
		o.Report.Finish(true)
		return search.Outcome{}
	})
	s.Random = nil
	resp := serve(s, "GET", "/search/stream?q=%3Cscript%3Ealert(1)%3C/script%3E")
	id := resp.Header.Get("X-Trace")
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(id) || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(resp.Header.Get("X-Trace-Span")) {
		t.Fatalf("X-Trace = %q, X-Trace-Span = %q, want 32 and 16 hex digits", id, resp.Header.Get("X-Trace-Span"))
	}
	resp = serve(s, "GET", strings.TrimPrefix(resp.Header.Get("X-Trace-URL"), "http://example.com"))
	page := bodyOf(t, resp)
	for _, want := range []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;", id,
		`<dd id="outcome">done after`, `<dd id="found">3 results in 1 repository`, "<code>repository-fork</code> 1 forked (<code>fork:yes</code>)",
		"<td>shard &lt;3&gt;</td>", ">2.000<", ">1.500<", "candidates <code>17</code>", "plan <code>(and &#34;gla&#34; &lt;b&gt;)</code>",
		"<td>parse</td>", "<td>stream</td>", "events <code>5</code>",
		`<td>lab/kiln@v1&lt;2</td><td><code>abababababab</code></td><td class="n">12</td><td class="n">7</td><td class="n">5</td><td>3 <code>binary</code> <code>backend-missing</code> </td>`,
		`<td>lab/glaze</td><td>none</td><td class="n">2</td><td class="n"></td><td class="n"></td><td></td>`,
		`<p id="rest">and 40 more repositories with 900 documents, 30 of them without text</p>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script>") {
		t.Errorf("the query is not escaped:\n%s", page)
	}
	checkPolicy(t, resp, page)
}

// Nothing found is never all there is to say when something was not looked at:
// neither on the page nor in the stream.
func TestNothingFound(t *testing.T) {
	for _, tt := range []struct {
		name    string
		skipped bool
		page    string
		stream  string
	}{
		{"all was looked at", false, `<dd id="found">0 results in 0 repositories</dd>`, `"skipped":[]`},
		{"not all was", true, `<dd id="found">0 results in 0 repositories, but not everything was looked at</dd>`,
			`"skipped":[{"reason":"content-unsearchable"`},
	} {
		s := newServer(func(_ context.Context, _ *query.Query, o search.Options, _ answer.Sink) search.Outcome {
			if tt.skipped {
				o.Report.Skips().Add(report.NewSkip(query.Skipped{Reason: "content-unsearchable", Title: "2 files without text", Severity: "info"}))
			}
			o.Report.Finish(true)
			return search.Outcome{}
		})
		s.Random = nil
		resp := serve(s, "GET", "/search/stream?q=x")
		if stream := bodyOf(t, resp); !strings.Contains(stream, tt.stream) {
			t.Errorf("%s: the stream is\n%s\nwant in it %s", tt.name, stream, tt.stream)
		}
		resp = serve(s, "GET", strings.TrimPrefix(resp.Header.Get("X-Trace-URL"), "http://example.com"))
		if page := bodyOf(t, resp); !strings.Contains(page, tt.page) {
			t.Errorf("%s: the page is\n%s\nwant in it %s", tt.name, page, tt.page)
		}
	}
}

func TestTraceForPrograms(t *testing.T) {
	s := newServer(func(_ context.Context, _ *query.Query, o search.Options, sink answer.Sink) search.Outcome {
		o.Trace.Add(report.Step{Name: "plan shard 3", Start: 2 * time.Millisecond, Took: 1500 * time.Microsecond, Fields: []report.Field{
			{Key: "lists", Value: "17"}, {Key: "query", Value: "x y"},
		}})
		o.Trace.Cover([]report.Coverage{
			{Repository: "r", Commit: "ab", Documents: 12, Unsearched: []report.Unsearched{{Reason: "binary", Documents: 3}, {Reason: "backend-missing"}}},
			{Repository: "s", Revision: "v1", Candidates: -1, Verified: -1},
		}, report.Rest{Repositories: 4, Documents: 9})
		return search.Outcome{}
	})
	s.Random = nil
	resp := serve(s, "GET", "/search/stream?q=x")
	resp = serve(s, "GET", strings.TrimPrefix(resp.Header.Get("X-Trace-URL"), "http://example.com")+"?format=json")
	body := bodyOf(t, resp)
	const want = `{"name":"plan shard 3","start_us":2000,"took_us":1500,"fields":{"lists":17,"query":"x y"}}`
	const coverage = `"coverage":[{"repository":"r","commit":"ab","documents":12,"candidates":0,"verified":0,` +
		`"unsearched":[{"reason":"binary","documents":3},{"reason":"backend-missing"}]},` +
		`{"repository":"s","revision":"v1","commit":"","documents":0,"unsearched":[]}],"rest":{"repositories":4,"documents":9,"unsearchable":0}`
	if !strings.Contains(body, coverage) {
		t.Errorf("trace is %s, want in it %s", body, coverage)
	}
	if !strings.Contains(body, want) || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("trace is %s of type %q, want in it %s", body, resp.Header.Get("Content-Type"), want)
	}
}

// checkPolicy demands that only what has the answer's own nonce is allowed, and
// that all of the page's styles and scripts have it.
func checkPolicy(t *testing.T, resp *http.Response, page string) {
	t.Helper()
	nonce := regexp.MustCompile(`style-src 'nonce-(\w{26})'`).FindStringSubmatch(resp.Header.Get("Content-Security-Policy"))
	if nonce == nil || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("the policy %q takes more than what has a nonce", resp.Header.Get("Content-Security-Policy"))
	}
	for _, tag := range regexp.MustCompile(`<(script|style|link rel="stylesheet")[^>]*>`).FindAllString(page, -1) {
		if !strings.Contains(tag, ` nonce="`+nonce[1]+`"`) {
			t.Errorf("%s has not the nonce %s", tag, nonce[1])
		}
	}
	for _, never := range []string{"style=", "<style", "javascript:", " onclick="} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q, which its policy forbids:\n%s", never, page)
		}
	}
}

func TestTracePageOfARunningSearch(t *testing.T) {
	h := searchtest.NewHeld()
	s := newServer(h.Search)
	open(t, s)
	resp, err := newClient(t).Get(s.URL() + "/search/stream?q=x")
	if err != nil {
		t.Fatal(err)
	}
	page, err := newClient(t).Get(resp.Header.Get("X-Trace-URL"))
	if err != nil {
		t.Fatal(err)
	}
	if body := bodyOf(t, page); !strings.Contains(body, `<dd id="outcome">running after`) {
		t.Errorf("the page of a running search:\n%s", body)
	}
	close(h.Release)
	bodyOf(t, resp)
}

func TestOldTracesAreForgotten(t *testing.T) {
	s := newServer(nothing)
	s.Random = nil
	var ids []string
	for range 201 {
		ids = append(ids, serve(s, "GET", "/search/stream?q=x").Header.Get("X-Trace"))
	}
	for i, want := range map[int]int{0: 404, 1: 200, 200: 200} {
		if got := serve(s, "GET", "/-/trace/"+ids[i]).StatusCode; got != want {
			t.Errorf("trace %d of 201: got %d, want %d", i, got, want)
		}
	}
}

// What searches leave behind is bounded in bytes, whatever is asked: refused
// queries of 240 KB are kept as far as 8 MiB reach, and push out no trace of
// another client.
func TestTracesOfOneClient(t *testing.T) {
	s := newServer(nothing)
	s.Random = nil
	from := func(address, target string) *http.Response {
		r := httptest.NewRequest("GET", target, nil)
		r.RemoteAddr = address + ":1234"
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r)
		return rec.Result()
	}
	const greedy, modest = "192.0.2.1", "192.0.2.2"
	search := func(address, query string) string {
		return from(address, "/search/stream?q="+query).Header.Get("X-Trace")
	}
	status := func(address, id string) int { return from(address, "/-/trace/"+id).StatusCode }
	ids := []string{search(modest, "x"), search(modest, "y")}
	long := strings.Repeat("(", 240_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var last string
	for range 300 {
		last = search(greedy, long)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("300 refused queries of 240 KB left %d MB behind, want 8 MiB or a little more", grown>>20)
	}
	for range 300 {
		search(greedy, "short")
	}
	for _, id := range ids {
		if got := status(modest, id); got != http.StatusOK {
			t.Errorf("the trace of another client: got %d, want 200", got)
		}
	}
	if got := status(greedy, last); got != http.StatusNotFound {
		t.Errorf("a trace with 300 newer ones of its client: got %d, want 404", got)
	}
	last = search(greedy, long)
	if got := status(greedy, last); got != http.StatusOK {
		t.Errorf("the newest trace: got %d, want 200", got)
	}
}

func TestIndexPage(t *testing.T) {
	s := newServer(nothing)
	s.ExternalURL = "https://code.example.org"
	resp := serve(s, "GET", "/help/api")
	page := bodyOf(t, resp)
	for _, want := range []string{
		"curl -N --get --data-urlencode", "https://code.example.org/.api/search/stream</pre>", `<a href="/healthz">`, "/-/trace/{id}",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	checkPolicy(t, resp, page)
	_, main, _ := strings.Cut(page, "<main") // the bar leads to other packages
	for _, link := range regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(main, -1) {
		if got := serve(s, "GET", strings.ReplaceAll(link[1], "&amp;", "&")).StatusCode; got != 200 {
			t.Errorf("the page links to %s, which answers %d", link[1], got)
		}
	}
	if n := strings.Count(page, fmt.Sprint("<td>", "HEAD")); n != 0 {
		t.Errorf("the page lists %d HEAD routes, want them left out", n)
	}
}
