package console_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	gographql "github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/console"
	"github.com/trawlsearch/trawl/httpapi/graphql"
)

// newServer serves the pages to clients that the gate lets in.
func newServer(gate *auth.Gate) http.Handler {
	s := &httpapi.Server{Gate: gate, ExternalURL: "https://code.example.org/deep"}
	for _, section := range (&console.Console{Server: s}).Sections() {
		s.Extra = append(s.Extra, section.Routes...)
	}
	return s.Handler()
}

func get(t *testing.T, h http.Handler, target string) (*http.Response, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", target, nil))
	resp := rec.Result()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestPages(t *testing.T) {
	h := newServer(&auth.Gate{Anonymous: auth.AnonymousYes})
	for target, want := range map[string][]string{
		"/debug/console": {`href="/deep/debug/stream"`, "count:all"},
		"/debug/stream?q=%3Cb%3E%22&t=regexp&display=7&cm=t": {
			`value="&lt;b&gt;&#34;"`, "<option selected>regexp</option>", `value="7"`, `value="true" checked`, `data-url="https://code.example.org/deep/.api/search/stream"`},
		"/debug/stream": {"autofocus", `value="true" checked`},
	} {
		resp, page := get(t, h, target)
		if resp.StatusCode != 200 {
			t.Errorf("GET %s: %d", target, resp.StatusCode)
		}
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("GET %s: the page has no %s:\n%s", target, text, page)
			}
		}
		// all that a page needs is here
		policy := resp.Header.Get("Content-Security-Policy")
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("GET %s: the policy is %s", target, policy)
		}
		for _, asset := range regexp.MustCompile(`(?:src|href)="/deep(/-/assets/[^"]*)"`).FindAllStringSubmatch(page, -1) {
			if resp, _ := get(t, h, asset[1]); resp.StatusCode != 200 {
				t.Errorf("GET %s, which %s needs: %d", asset[1], target, resp.StatusCode)
			}
		}
	}
}

func TestWhoMayLook(t *testing.T) {
	h := newServer(&auth.Gate{Anonymous: auth.AnonymousNo})
	for _, target := range []string{"/debug/console", "/debug/stream"} {
		if resp, _ := get(t, h, target); resp.StatusCode != 302 || !strings.HasPrefix(resp.Header.Get("Location"), "/deep/sign-in?returnTo=") {
			t.Errorf("GET %s by nobody: %d to %q, want where to sign in", target, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
	if resp, _ := get(t, h, "/api/console?trace=1"); resp.StatusCode != 308 || resp.Header.Get("Location") != "/deep/debug/console?trace=1" {
		t.Errorf("GET /api/console: %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
}

// The examples are links that a browser reads back as they are, to documents
// that fit the schema.
func TestExamples(t *testing.T) {
	schema := servedSchema(t)
	_, page := get(t, newServer(&auth.Gate{Anonymous: auth.AnonymousYes}), "/debug/console")
	found := regexp.MustCompile(`<a href="#([^"]*)">`).FindAllStringSubmatch(page, -1)
	if len(found) < 4 {
		t.Fatalf("the page has %d examples:\n%s", len(found), page)
	}
	for _, f := range found {
		text, err := url.PathUnescape(f[1])
		if err != nil {
			t.Fatalf("the fragment %q: %v", f[1], err)
		}
		var state struct{ Query, Variables string }
		if err := json.Unmarshal([]byte(text), &state); err != nil {
			t.Fatalf("the fragment %q: %v", f[1], err)
		}
		var variables map[string]any
		if state.Variables != "" {
			if err := json.Unmarshal([]byte(state.Variables), &variables); err != nil {
				t.Errorf("the variables %q: %v", state.Variables, err)
			}
		}
		for _, wrong := range schema.ValidateWithVariables(state.Query, variables) {
			t.Errorf("the example\n%s%v", state.Query, wrong)
		}
	}
}

// servedSchema is what the server says that its schema is.
func servedSchema(t *testing.T) *gographql.Schema {
	t.Helper()
	s := &httpapi.Server{Gate: &auth.Gate{Anonymous: auth.AnonymousYes}, Extra: (&graphql.Endpoint{}).Routes()}
	_, text := get(t, s.Handler(), graphql.Path+"/schema.graphql")
	schema, err := gographql.ParseSchema(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
