package graphql_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/store/identity"
)

// TestClients sends what clients send the way src sends it: compressed, with a
// token and a header of a proxy, below a path; and none of it is answered for a
// token that is not good.
func TestClients(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests of clients in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			w := newWorld(t)
			w.below("/code")
			w.compress = true
			checkQueries(t, w, file, "Authorization", "token "+w.Tokens["root"], "X", "1")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files {
				if !strings.HasSuffix(f.Name, ".json") {
					w.refuses(string(f.Data), "token sgp_local_"+strings.Repeat("0", 40))
				}
			}
		})
	}
}

// TestClientsOverHTTP has a row for what each client demands beside its documents:
// headers, forms of bodies, parameters, the way a stream ends.
func TestClientsOverHTTP(t *testing.T) {
	w := newWorld(t)
	w.Gate.ExternalURL = w.URL
	ann, err := w.Registry.UserNamed("ann")
	if err != nil {
		t.Fatal(err)
	}
	const password = "correct horse battery"
	if err := w.Registry.SetPassword(t.Context(), identity.Operator, ann.ID, password); err != nil {
		t.Fatal(err)
	}
	session, _, err := w.Registry.SignIn(t.Context(), identity.Author{}, "ann", password)
	if err != nil {
		t.Fatal(err)
	}
	const (
		user    = `{"query":"{ currentUser { username, id } }"}`
		isAnn   = `{"data":{"currentUser":{"username":"ann","id":"VXNlcjoy"}}}`
		nobody  = `{"data":{"currentUser":null}}`
		invalid = "Invalid access token.\n"
		private = "Private mode requires authentication.\n"
		done    = "event: done\ndata: {}\n\n"
		search  = "/.api/search/stream?q=glaze&"
	)
	token, cookie := "token "+w.Tokens["ann"], auth.CookieName+"="+session
	for _, tt := range []struct {
		row          string
		private      bool
		method, path string
		body         string
		header       []string
		status       int
		want         string // what the answer ends with
	}{
		{"sg.nvim", false, "POST", "", user, []string{"Authorization", token}, 200, isAnn},
		{"VS Code: asks for a token", false, "POST", "?CurrentUser", user, []string{"Authorization", "token nonsense"}, 401, invalid},
		{"VS Code: named request", false, "POST", "?CurrentUser", user, []string{"Authorization", token}, 200, isAnn},
		{"JetBrains: a bare string, its own headers", false, "POST", "", user,
			[]string{"Content-Type", "text/plain", "X-Sourcegraph-Should-Trace", "false", "X-Own", "1", "Authorization", token}, 200, isAnn},
		{"browser extension: preflight", false, "OPTIONS", "", "", []string{"Origin", "chrome-extension://abc", "Access-Control-Request-Method", "POST"}, 200, ""},
		{"browser extension: session", false, "POST", "", user, []string{"Cookie", cookie, "X-Requested-With", "Sourcegraph"}, 200, isAnn},
		{"browser extension: session of a page that may not", false, "POST", "", user, []string{"Cookie", cookie, "Origin", "https://evil.example"}, 401, private},
		{"Cody", false, "POST", "?CurrentUser", user, []string{"Authorization", token, "X-Requested-With", "x", "X-Sourcegraph-Actor-Anonymous-UID", "u", "traceparent", "00-x"}, 200, isAnn},
		{"Raycast: no token yet", false, "POST", "", user, []string{"Authorization", "", "X-Requested-With", "Raycast-Sourcegraph"}, 200, nobody},
		{"Raycast: stream", false, "GET", search + "v=V3&t=standard&display=1500&utm_source=raycast", "", nil, 200, done},
		{"ziv: Bearer", false, "GET", search, "", []string{"Authorization", "Bearer nonsense"}, 401, invalid},
		{"divar-ir, akbad: stream", false, "GET", search + "t=keyword&v=V3&cm=true&cl=5&display=10", "", []string{"Authorization", token}, 200, done},
		{"Crush: nobody", false, "POST", "", user, nil, 200, nobody},
		{"lynx: private", true, "GET", search + "v=V3&cm=t&cl=1&display=3&t=regexp", "", nil, 401, private},
		{"lynx: graphql, private", true, "POST", "", user, nil, 401, private},
		{"Slates: stream", false, "GET", search + "v=V3&t=keyword&display=5&cm=false", "", nil, 200, done},
		{"Slates: acts as others", false, "POST", "", user, []string{"Authorization", `token-sudo user="ann",token="` + w.Tokens["root"] + `"`}, 200, isAnn},
		{"megamanipulator", false, "POST", "?Search=", `{"query":"{ search(query: \"count:1 timeout:10s f\", version: V3) { results { matchCount results { __typename } } } }"}`,
			[]string{"Authorization", token}, 200, `{"data":{"search":{"results":{"matchCount":1,"results":[{"__typename":"FileMatch"}]}}}}`},
		{"curl: a form", false, "POST", "", user, []string{"Content-Type", "application/x-www-form-urlencoded", "Authorization", token}, 200, isAnn},
		{"curl: stream", false, "GET", search + "patternType=keyword", "", nil, 200, done},
		{"k6", false, "GET", search + "v=V2&t=literal", "", nil, 200, done},
	} {
		w.Gate.Anonymous = map[bool]auth.AnonymousMode{true: auth.AnonymousNo, false: auth.AnonymousYes}[tt.private]
		path := tt.path
		if !strings.HasPrefix(path, "/") {
			path = graphql.Path + path
		}
		resp, got := w.Send(tt.method, path, tt.body, tt.header...)
		if resp.StatusCode != tt.status || !strings.HasSuffix(strings.TrimSuffix(got, "\n"), strings.TrimSuffix(tt.want, "\n")) {
			t.Errorf("%s: got %d %q, want %d and an end of %q", tt.row, resp.StatusCode, got, tt.status, tt.want)
		}
		// before the end of a stream stands that it is done
		if tt.want == done && !strings.Contains(got, "event: progress\ndata: {\"done\":true,") {
			t.Errorf("%s: got no last progress in %q", tt.row, got)
		}
	}
}

// below has what follows asked of a proxy that has the server below a path.
func (w *world) below(path string) {
	w.Helper()
	w.Listen(http.StripPrefix(path, w.api.Handler()))
	w.URL += path
}

func (w *world) refuses(document, authorization string) {
	w.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": nil})
	if err != nil {
		w.Fatal(err)
	}
	resp, answer := w.Send(http.MethodPost, graphql.Path, string(body), "Authorization", authorization, "Content-Type", "application/json")
	if resp.StatusCode != http.StatusUnauthorized || strings.TrimSpace(answer) != "Invalid access token." {
		w.Errorf("%s as %s: got %d %q, want 401 Invalid access token.", document, authorization, resp.StatusCode, answer)
	}
}
