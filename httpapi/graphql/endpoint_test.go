package graphql_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/internal/race"
)

func bodyOf(t testing.TB, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const plainBody = `{"query":"{ site { id } }"}`

const plainAnswer = `{"data":{"site":{"id":"U2l0ZToic2l0ZSI="}}}` + "\n"

func TestRequests(t *testing.T) {
	w := newWorld(t)
	gzipped := []string{"Content-Encoding", "gzip"}
	large := `{"query":"` + strings.Repeat(" ", 3<<20) + `"}`
	tests := []struct {
		about, body string
		header      []string
		status      int
		want        string // the answer, or with "…" behind it how it begins
	}{
		// bodies
		{"plain", plainBody, nil, 200, plainAnswer},
		{"with a content type of forms", plainBody, []string{"Content-Type", "application/x-www-form-urlencoded"}, 200, plainAnswer},
		{"with one of text", plainBody, []string{"Content-Type", "text/plain"}, 200, plainAnswer},
		{"compressed", zipped(t, plainBody), gzipped, 200, plainAnswer},
		{"more behind it", plainBody + " more", nil, 200, plainAnswer},
		{"other members", `{"query":"{ site { id } }","extensions":{},"x":1}`, nil, 200, plainAnswer},
		{"null for everything else", `{"query":"{ site { id } }","variables":null,"operationName":null}`, nil, 200, plainAnswer},
		{"variables that nothing declares", `{"query":"{ site { id } }","variables":{"a":[1]}}`, nil, 200, plainAnswer},

		// bodies that are none
		{"not JSON", `query { site { id } }`, nil, 400, "the request body is not a JSON object…"},
		{"nothing", ``, nil, 400, "the request body is not a JSON object…"},
		{"a list", `[` + plainBody + `]`, nil, 400, "the request body is not a JSON object…"},
		{"a list of variables", `{"query":"","variables":[]}`, nil, 400, "variables must be an object or null\n"},
		{"not compressed", plainBody, gzipped, 400, "the request body is not gzip, or not whole\n"},
		{"compressed and cut off", zipped(t, plainBody)[:20], gzipped, 400, "the request body is not gzip, or not whole\n"},
		{"in another encoding", plainBody, []string{"Content-Encoding", "br"}, 415, "content encoding \"br\" is not known…"},
		{"too large", large, nil, 413, "the request body is larger than 2 MiB\n"},
		{"too large behind compression", zipped(t, large), gzipped, 413, "the request body is larger than 2 MiB\n"},
		{"too many variables", `{"query":"","variables":{"a":[` + strings.Repeat("0,", 200_000) + `0]}}`, nil, 413, "the variables hold more than 100000 values\n"},

		// documents that are wrong
		{"none", `{"query":""}`, nil, 200, `{"errors":[{"message":"no operations in query document"}]}` + "\n"},
		{"null", `{"query":null}`, nil, 200, `{"errors":[{"message":"no operations in query document"}]}` + "\n"},
		{"several", `{"query":"query A { site { id } } query B { site { id } }"}`, nil, 200,
			`{"errors":[{"message":"more than one operation in query document and no operation name given"}]}` + "\n"},
		{"several with a name", `{"query":"query A { site { id } } query B { currentUser: site { id } }","operationName":"A"}`, nil, 200, plainAnswer},
		{"another name", `{"query":"query A { site { id } }","operationName":"X"}`, nil, 200, `{"errors":[{"message":"no operation with name \"X\""}]}` + "\n"},
		{"a field that is not there", `{"query":"{ site { idd } }"}`, nil, 200, `{"errors":[{"message":"Cannot query field \"idd\" on type \"Site\". Did you mean \"id\"…`},
		{"an argument that is not there", `{"query":"{ site(a: 1) { id } }"}`, nil, 200, `{"errors":[{"message":"Unknown argument \"a\" on field \"Query.site\".…`},
		{"an argument that is missing", `{"query":"{ node { id } }"}`, nil, 200, `{"errors":[{"message":"Field \"node\" argument \"id\" of type \"ID!\" is required, but it was not provided.…`},
		{"a variable that is missing", `{"query":"query($x: ID!) { node(id: $x) { id } }"}`, nil, 200, `{"errors":[{"message":"Variable \"x\" has invalid value null.\nExpected type \"ID!\", found null.…`},
		{"an enum value that is none", `{"query":"query($x: SearchVersion) { search(version: $x) { results { matchCount } } }","variables":{"x":"V9"}}`, nil, 200,
			`{"errors":[{"message":"Variable \"x\" has invalid value V9.\nExpected type \"SearchVersion\", found V9.…`},
		{"no selection", `{"query":"{ site }"}`, nil, 200, `{"errors":[{"message":"Field \"site\" of type \"Site!\" must have a selection of subfields. Did you mean \"site { ... }\"?…`},
		{"a subscription", `{"query":"subscription { x }"}`, nil, 200, `{"errors":[{"message":…`},
		{"no GraphQL", `{"query":"{ site { id }"}`, nil, 200, `{"errors":[{"message":"syntax error: …`},
		{"a fragment that spreads itself", `{"query":"{ site { ...F } } fragment F on Site { ...F }"}`, nil, 200, `{"errors":[{"message":"Cannot spread fragment…`},
		{"depth behind fragments", `{"query":"{ node(id: \"x\") { ...F } } fragment F on Repository { ` + deep(40) + ` }"}`, nil, 200,
			`{"errors":[{"message":"Field \"repository\" has depth 31 that exceeds max depth 30…`},
		{"too long", `{"query":"{ site { id } } #` + strings.Repeat("x", 200_000) + `"}`, nil, 200,
			`{"errors":[{"message":"query length 200017 exceeds the maximum allowed query length of 131072 bytes"}]}` + "\n"},

		// documents that ask for too much
		{"too deep", `{"query":"` + strings.Repeat("{a", 31) + strings.Repeat("}", 31) + `"}`, nil, 400,
			`{"errors":[{"message":"Query exceeds maximum query depth limit","extensions":{"actual":31,"code":"ErrQueryComplexityLimitExceeded",` +
				`"docs_url":"https://trawl.example.org/help/api/graphql#cost-limits","limit":30,"type":"query depth"}}]}` + "\n"},
		{"too many fields", `{"query":"{ repositories(first: 500000) { nodes { name } } }"}`, nil, 400,
			`{"errors":[{"message":"Query exceeds maximum field count limit","extensions":{"actual":500001,"code":"ErrQueryComplexityLimitExceeded",` +
				`"docs_url":"https://trawl.example.org/help/api/graphql#cost-limits","limit":500000,"type":"field count"}}]}` + "\n"},
		{"too many aliases", `{"query":"` + aliases(501) + `"}`, nil, 400,
			`{"errors":[{"message":"Query exceeds maximum alias count limit","extensions":{"actual":501,…`},
		// those of the first 256 KiB are counted
		{"far too many aliases", `{"query":"` + aliases(100_000) + `"}`, nil, 400,
			`{"errors":[{"message":"Query exceeds maximum alias count limit","extensions":{"actual":18217,…`},
	}
	for _, tt := range tests {
		resp, got := w.post(tt.body, tt.header...)
		begin, cut := strings.CutSuffix(tt.want, "…")
		if resp.StatusCode != tt.status || got != tt.want && !(cut && strings.HasPrefix(got, begin)) {
			t.Errorf("%s: %.200s\n got %d %.500q\nwant %d %.500q", tt.about, tt.body, resp.StatusCode, got, tt.status, tt.want)
		}
		want := "application/json"
		if resp.StatusCode == 413 || resp.StatusCode == 415 || resp.StatusCode == 400 && !strings.HasPrefix(got, "{") {
			want = "text/plain; charset=utf-8"
		}
		if ct := resp.Header.Get("Content-Type"); ct != want {
			t.Errorf("%s: content type %q, want %q", tt.about, ct, want)
		}
	}
}

// deep is a chain of n fields that a repository has.
func deep(n int) string {
	return strings.Repeat("defaultBranch { repository { ", n/2) + "name" + strings.Repeat(" } }", n/2)
}

func aliases(n int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, "a%d:site{id}", i)
	}
	return b.String() + "}"
}

func TestMethodsAndNames(t *testing.T) {
	w := newWorld(t)
	for _, query := range []string{"?CurrentUser", "?Search=", "?a=b&c", "?%zz"} {
		if resp, got := w.Send(http.MethodPost, graphql.Path+query, plainBody); resp.StatusCode != 200 || got != plainAnswer {
			t.Errorf("POST %s: got %d %s", query, resp.StatusCode, got)
		}
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		if resp, got := w.Send(method, graphql.Path, ""); resp.StatusCode != 405 || got != "" {
			t.Errorf("%s: got %d %q, want 405 without a body", method, resp.StatusCode, got)
		}
	}
}

func TestAnswerIsCompressed(t *testing.T) {
	w := newWorld(t)
	w.Client.Transport.(*http.Transport).DisableCompression = true
	resp, body := w.post(`{"query":"{ __schema { types { name fields { name } } } }"}`, "Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("headers %v, want gzip", resp.Header)
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil || !json.Valid(plain) {
		t.Errorf("%.100s, %v; want JSON", plain, err)
	}
}

func TestOpening(t *testing.T) {
	w := newWorld(t)
	w.endpoint.Data = func() *graphql.Data { return nil }
	if resp, got := w.post(plainBody); resp.StatusCode != 503 || got != "opening data directory\n" || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("got %d %q, want 503", resp.StatusCode, got)
	}
}

// Whatever a document does, it is answered within 50 ms and 50 MB.
func TestHostileRequests(t *testing.T) {
	w := newWorld(t)
	var fragments strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fragments, " fragment F%d on Site { id ...F%d ...F%d }", i, (i+1)%1000, (i+2)%1000)
	}
	nested := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	tests := map[string]string{
		"aliases":           `{"query":"` + aliases(100_000) + `"}`,
		"aliases below":     `{"query":"{ site { ` + strings.Repeat("a:id ", 499) + ` } }"}`,
		"fragment cycle":    `{"query":"{ site { ...F0 } }` + fragments.String() + `"}`,
		"fragment unused":   `{"query":"{ site { id } } fragment F on Site { ` + strings.Repeat("id ", 40_000) + ` }"}`,
		"deep":              `{"query":"` + strings.Repeat("{a", 20_000) + strings.Repeat("}", 20_000) + `"}`,
		"variables":         `{"query":"{ site { id } }","variables":{"a":"` + strings.Repeat("x", 2_000_000) + `"}}`,
		"list of variables": `{"query":"{ site { id } }","variables":{"a":[` + strings.Repeat("0,", 99_000) + `0]}}`,
		"nested variables":  `{"query":"{ site { id } }","variables":{"a":` + nested + `}}`,
		"names":             `{"query":"{ repositories(names: [` + strings.Repeat(`\"a\",`, 20_000) + `]) { totalCount } }"}`,
		"regexp":            `{"query":"{ search(query: \"/((x{100}){100}){100}/\") { results { matchCount } } }"}`,
		"parentheses":       `{"query":"{ search(query: \"` + strings.Repeat("(", 60_000) + `\") { results { matchCount } } }"}`,
		"alternatives":      `{"query":"{ search(query: \"` + strings.Repeat("a or ", 20_000) + `b\") { results { matchCount } } }"}`,
		"filters":           `{"query":"{ search(query: \"` + strings.Repeat("repo:a ", 15_000) + `\") { results { matchCount } } }"}`,
		"tree of a query":   `{"query":"{ parseSearchQuery(query: \"` + strings.Repeat("not (", 20_000) + `\") }"}`,
		"one byte too many": `{"query":"` + strings.Repeat(" ", 2<<20) + `"}`,
		"overlap":           `{"query":"{ site { ` + strings.Repeat("id ", 499) + ` } site { ` + strings.Repeat("... on Site { productVersion } ", 400) + ` } }"}`,
	}
	for name, body := range tests {
		w.post(body) // what is made once
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		resp, got := w.post(body)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		for range 4 { // other programs may have had the processors
			start := time.Now()
			w.post(body)
			took = min(took, time.Since(start))
		}
		t.Logf("%s: %d, %s, %d MB: %.80s", name, resp.StatusCode, took.Round(time.Millisecond), allocated>>20, got)
		if allocated > 50<<20 {
			t.Errorf("%s: %d MB allocated, want at most 50", name, allocated>>20)
		}
		// A hundred times the target: the machine may be busy, but not that much.
		if took > 5*race.Slow()*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}
