package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/trawlsearch/trawl/httpapi/graphql"
	trawlmcp "github.com/trawlsearch/trawl/httpapi/mcp"
	"github.com/trawlsearch/trawl/store/identity"
)

// TestSchemas compiles the schema of each tool, as clients do before a call.
func TestSchemas(t *testing.T) {
	w := newWorld(t)
	n := 0
	for tool, err := range w.client(t, "bob").Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		if err := c.AddResource("tool.json", doc); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		schema, err := c.Compile("tool.json")
		if err != nil {
			t.Errorf("%s: %v\n%s", tool.Name, err, text)
			continue
		}
		if err := schema.Validate(map[string]any{"no such argument": 1}); err == nil {
			t.Errorf("%s takes any argument: %s", tool.Name, text)
		}
		for name, p := range schema.Properties {
			if p.Description == "" {
				t.Errorf("%s: argument %s has no description", tool.Name, name)
			}
		}
		if tool.Description == "" || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: no description, or not told to be read-only: %+v", tool.Name, tool)
		}
	}
	if n != 12 {
		t.Errorf("got %d tools, want 12", n)
	}
}

// rpc sends a message as a user and returns the answer.
func (w *world) rpc(t *testing.T, server *httptest.Server, token, message string, header ...string) (*http.Response, string) {
	t.Helper()
	method := http.MethodPost
	if message == "" {
		method = http.MethodDelete
	}
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+trawlmcp.Path, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "token "+token)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tests","version":"1"}}}`
	listTools  = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
)

// TestWithoutSession answers a call of an old client that never began a session, and one
// of the SDK's client, which speaks the newest version.
func TestWithoutSession(t *testing.T) {
	w := newWorld(t)
	resp, body := w.rpc(t, w.server, w.Tokens["bob"], `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"keyword_search","arguments":{"query":"fire heat"}}}`)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "main.go") || resp.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("got %s with session %q: %s", resp.Status, resp.Header.Get("Mcp-Session-Id"), body)
	}
	for _, path := range []string{trawlmcp.Path, trawlmcp.PathV1} {
		s := w.connect(t, w.server.URL+path, w.Tokens["bob"])
		if s.ID() != "" {
			t.Errorf("%s: got the session %q, want none", path, s.ID())
		}
		if got, failed := call(t, s, "list_repositories", nil); failed {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestSession begins a session, uses it and ends it.
func TestSession(t *testing.T) {
	w := newWorld(t)
	e := w.newEndpoint(w.endpoint.GraphQL)
	e.Sessions = 2
	server := w.serve(e)
	defer server.Close()
	defer e.Close()
	begin := func(token string) string {
		t.Helper()
		resp, body := w.rpc(t, server, token, initialize)
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"protocolVersion":"2025-06-18"`) {
			t.Fatalf("initialize: got %s: %s", resp.Status, body)
		}
		return resp.Header.Get("Mcp-Session-Id")
	}
	expect := func(token, id, message string, status int) {
		t.Helper()
		resp, body := w.rpc(t, server, token, message, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-06-18")
		if resp.StatusCode != status {
			t.Errorf("%.60s: got %s, want %d: %s", message, resp.Status, status, body)
		}
	}
	mine := begin(w.Tokens["bob"])
	expect(w.Tokens["bob"], mine, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, http.StatusAccepted)
	expect(w.Tokens["bob"], mine, listTools, http.StatusOK)
	// It is nobody else's, nor that of another token of the same user.
	another, id := w.token(t, 3)
	expect(w.Tokens["ann"], mine, listTools, http.StatusForbidden)
	expect(another, mine, listTools, http.StatusForbidden)
	expect(w.Tokens["bob"], "unknown", listTools, http.StatusNotFound)
	// It ends with its credential.
	other := begin(another)
	if other == "" || e.OpenSessions() != 2 {
		t.Fatalf("got session %q and %d open, want 2", other, e.OpenSessions())
	}
	// More get none, and are answered.
	if third := begin(w.Tokens["ann"]); third != "" {
		t.Errorf("got a third session %q of 2", third)
	}
	if err := w.Registry.RevokeToken(identity.Operator, id); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the session to end with its token", func() bool { return e.OpenSessions() == 1 })
	expect(another, other, listTools, http.StatusUnauthorized)
	// It ends when its client says so.
	expect(w.Tokens["ann"], mine, "", http.StatusForbidden)
	expect(w.Tokens["bob"], mine, "", http.StatusNoContent)
	expect(w.Tokens["bob"], mine, listTools, http.StatusNotFound)
	waitFor(t, "the session to be forgotten", func() bool { return e.OpenSessions() == 0 })
	// The SDK's client has one by an older version.
	s := w.connect(t, server.URL+trawlmcp.PathV1, w.Tokens["bob"], "2025-11-25")
	if got, failed := call(t, s, "read_file", map[string]any{"repository": "lab/kiln", "path": "main.go"}); failed || s.ID() == "" {
		t.Errorf("in session %q: %s", s.ID(), got)
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for !so() {
		select {
		case <-t.Context().Done():
			t.Fatalf("waited for %s in vain", what)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestRefused lists what the protocol's rules of security refuse before a message is read.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	bob := w.Tokens["bob"]
	for _, c := range []struct {
		name, token, message string
		header               []string
		status               int
		want                 string
	}{
		{"no credential", "", listTools, nil, 401, "Private mode requires authentication."},
		{"bad token", "sgp_0000000000000000000000000000000000000000", listTools, nil, 401, "Invalid access token."},
		{"foreign origin", bob, listTools, []string{"Origin", "https://evil.example"}, 403, "trusted-origins"},
		{"opaque origin", bob, listTools, []string{"Origin", "null"}, 403, "trusted-origins"},
		{"large body", bob, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"` + strings.Repeat("a", 300<<10) + `"}}`, nil, 413, "shorter arguments"},
		{"deep body", bob, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + strings.Repeat("[", 100), nil, 400, "nested too deeply"},
		{"no message", bob, `[]`, nil, 400, ""},
		{"no JSON", bob, `{`, nil, 400, ""},
		{"unknown version", bob, listTools, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, "Unsupported protocol version"},
		{"form", bob, listTools, []string{"Content-Type", "text/plain"}, 415, ""},
	} {
		resp, body := w.rpc(t, w.server, c.token, c.message, c.header...)
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: got %s, want %d and %q: %s", c.name, resp.Status, c.status, c.want, body)
		}
	}
	resp, body := w.rpc(t, w.server, bob, listTools, "Origin", w.server.URL)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("own origin: got %s: %s", resp.Status, body)
	}
	get, err := w.server.Client().Get(w.server.URL + trawlmcp.Path + "?token=" + bob)
	if err != nil {
		t.Fatal(err)
	}
	defer get.Body.Close()
	if get.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: got %s, want 405", get.Status)
	}
}

// TestMetadata follows the 401 of a client that knows only the address.
func TestMetadata(t *testing.T) {
	w := newWorld(t)
	for token, want := range map[string]string{"": "Bearer ", "sgp_0000000000000000000000000000000000000000": `Bearer error="invalid_token", `} {
		resp, _ := w.rpc(t, w.server, token, listTools)
		at := w.server.URL + "/.well-known/oauth-protected-resource/.api/mcp"
		if got := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != http.StatusUnauthorized || got != want+fmt.Sprintf(`resource_metadata=%q, scope="mcp"`, at) {
			t.Errorf("with token %q: got %s and %s", token, resp.Status, got)
		}
		// The SDK judges the document as its clients do.
		m, err := oauthex.GetProtectedResourceMetadata(t.Context(), at, w.server.URL+trawlmcp.Path, w.server.Client())
		if err != nil {
			t.Fatal(err)
		}
		if len(m.AuthorizationServers) != 1 || m.AuthorizationServers[0] != w.server.URL || len(m.ScopesSupported) != 1 || m.ScopesSupported[0] != "mcp" {
			t.Errorf("got %+v", m)
		}
	}
}

// TestOpening is told while the data directory is opened.
func TestOpening(t *testing.T) {
	w := newWorld(t)
	e := w.newEndpoint(&graphql.Endpoint{Data: func() *graphql.Data { return nil }, Searcher: w.searcher})
	e.Opening = func() string { return "data directory" }
	server := w.serve(e)
	defer server.Close()
	resp, body := w.rpc(t, server, w.Tokens["bob"], listTools)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, "opening data directory") {
		t.Errorf("got %s: %s", resp.Status, body)
	}
}

// TestHidden asks in every way for a repository that the user may not read: it is as if it
// were not there.
func TestHidden(t *testing.T) {
	w := newWorld(t)
	arguments := func(repo string) map[string]map[string]any {
		return map[string]map[string]any{
			"keyword_search":    {"query": "hiddenGlaze", "repository": repo},
			"regexp_search":     {"pattern": "hiddenGlaze|secret"},
			"natural_search":    {"question": "hiddenGlaze", "repository": repo},
			"read_file":         {"repository": repo, "path": "hidden.go"},
			"list_files":        {"repository": repo},
			"list_repositories": {"query": repo[4:]},
			"find_definitions":  {"name": "hiddenGlaze", "repository": repo},
			"find_references":   {"name": "hiddenGlaze"},
			"commit_search":     {"query": "hide", "repository": repo},
			"diff_search":       {"query": "hiddenGlaze"},
			"compare_revisions": {"repository": repo, "base": "main"},
			"blame":             {"repository": repo, "path": "hidden.go"},
		}
	}
	bob, ann := w.client(t, "bob"), w.client(t, "ann")
	missing := arguments("lab/absent")
	for tool, args := range arguments("lab/secret") {
		got, _ := call(t, bob, tool, args)
		want, _ := call(t, bob, tool, missing[tool])
		if want = strings.ReplaceAll(want, "absent", "secret"); got != want {
			t.Errorf("%s of what is hidden: %s\nof what is missing: %s", tool, got, want)
		}
		if tool == "find_definitions" && !w.symbols {
			continue
		}
		if got, _ := call(t, ann, tool, args); !strings.Contains(got, "lab/secret") {
			t.Errorf("%s of ann, who may read it: %s", tool, got)
		}
	}
	for _, repo := range []string{"lab/secret", "lab/absent"} {
		_, err := bob.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "trawl:///" + repo + "/-/blob/hidden.go"})
		if err == nil || !strings.Contains(err.Error(), "there is no repository") {
			t.Errorf("resource of %s: got %v", repo, err)
		}
	}
}

// TestHostile gives every tool long, strange and malformed arguments: each is refused or
// answered in bounds, and none is an internal error.
func TestHostile(t *testing.T) {
	w := newWorld(t)
	s := w.client(t, "bob")
	texts := []string{
		"a\x00\nb", "--upload-pack=touch x", "../../../etc/passwd", "HEAD:main.go", "main..v1.0", "(", "a{1000}{1000}", strings.Repeat("é", 5000), `"\`, "repo:(",
	}
	numbers := []int{-1, 1<<53 - 1}
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		properties := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		for name, p := range properties {
			var values []any
			switch kind := p.(map[string]any)["type"]; kind {
			case "string":
				for _, v := range texts {
					values = append(values, v)
				}
			case "integer":
				for _, v := range numbers {
					values = append(values, v)
				}
			case "boolean":
				values = []any{true, false}
			default:
				t.Fatalf("%s: argument %s has type %v", tool.Name, name, kind)
			}
			for _, v := range values {
				arguments := usual(properties)
				arguments[name] = v
				got, _ := call(t, s, tool.Name, arguments)
				if len(got) > 17_000 && name != "max_bytes" || len(got) > 66_000 || strings.Contains(got, "internal error") || strings.Contains(got, "root:") {
					t.Errorf("%s with %s %.60q: got %d bytes: %.2000s", tool.Name, name, fmt.Sprint(v), len(got), got)
				}
			}
		}
	}
}

// usual are good arguments for those that a tool has.
func usual(properties map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range map[string]any{
		"query": "glaze", "pattern": "glaze", "question": "glaze", "name": "fire", "repository": "lab/kiln", "base": "v1.0", "path": "main.go",
	} {
		if properties[name] != nil {
			out[name] = v
		}
	}
	return out
}

// TestBudget keeps answers within what was asked for.
func TestBudget(t *testing.T) {
	w := newWorld(t)
	s := w.client(t, "bob")
	for tool, arguments := range map[string]map[string]any{
		"keyword_search":    {"query": "glaze", "limit": 100},
		"regexp_search":     {"pattern": "gla[z]e", "context": 10},
		"read_file":         {"repository": "lab/kiln", "path": "many.txt"},
		"list_files":        {"repository": "lab/kiln", "recursive": true},
		"compare_revisions": {"repository": "lab/kiln", "base": "v1.0", "diff": true},
	} {
		for _, most := range []int{1, 1000, 4000, 16000, 64000} {
			arguments["max_bytes"] = most
			got, failed := call(t, s, tool, arguments)
			if bound := max(most, 1000) + 400; failed || len(got) > bound {
				t.Errorf("%s with %d bytes: got %d: %.300s", tool, most, len(got), got)
			}
		}
	}
}

// TestFiles reads files by their addresses.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	s := w.client(t, "bob")
	for uri, want := range map[string]string{
		"trawl:///lab/kiln/-/blob/main.go":            "// fire heats the kiln.",
		"trawl:///lab/kiln@v1.0/-/blob/main.go":       "func fire(heat int) {",
		"trawl:///lab/kiln@main/-/blob/docs/guide.md": "Let the glaze cool",
	} {
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if len(res.Contents) != 1 || !strings.Contains(res.Contents[0].Text, want) {
			t.Errorf("%s: no %q in %+v", uri, want, res.Contents)
		}
	}
	for _, uri := range []string{
		"trawl:///lab/kiln/-/blob/", "trawl:///lab/kiln/-/blob/../../etc/passwd", "trawl:///lab/kiln/-/blob/photo.png", "trawl:///lab/kiln@v9/-/blob/main.go",
		"trawl:///lab/kiln", "trawl:///" + strings.Repeat("a", 9000), "file:///etc/passwd", "trawl:///lab/kiln@-x/-/blob/main.go", "trawl:///lab/kiln/-/blob/%zz",
	} {
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.60s: got %+v, %v; want a short error", uri, res, err)
		}
	}
}

// TestPrompts gets the prompts, and searches for the examples of the query language.
func TestPrompts(t *testing.T) {
	w := newWorld(t)
	s := w.client(t, "bob")
	res, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "query_language"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for text := range strings.Lines(res.Messages[0].Content.(*mcp.TextContent).Text) {
		example, ok := strings.CutPrefix(text, "    ")
		if !ok {
			continue
		}
		example, _, _ = strings.Cut(strings.TrimRight(example, "\n"), "  ")
		if got, failed := call(t, s, "keyword_search", map[string]any{"query": example}); failed {
			t.Errorf("example %q: %s", example, got)
		}
		n++
	}
	if n < 15 {
		t.Errorf("got %d examples, want some more", n)
	}
	res, err = s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "find_code", Arguments: map[string]string{"question": "what fires?", "repository": "lab/kiln"}})
	if err != nil || !strings.Contains(res.Messages[0].Content.(*mcp.TextContent).Text, "Question: what fires?") {
		t.Errorf("find_code: got %+v, %v", res, err)
	}
	if _, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "find_code"}); err == nil {
		t.Error("find_code without a question: got no error")
	}
}
