package graphql_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trawlsearch/trawl/httpapi/graphql"
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
			checkQueries(t, w, file, "Authorization", "token "+w.tokens["root"], "X", "1")
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

// below has what follows asked of a proxy that has the server below a path.
func (w *world) below(path string) {
	w.t.Helper()
	to := w.server.Config.Handler
	proxy := httptest.NewServer(http.StripPrefix(path, to))
	w.t.Cleanup(proxy.Close)
	w.url = proxy.URL + path
}

func (w *world) refuses(document, authorization string) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": nil})
	if err != nil {
		w.t.Fatal(err)
	}
	resp, answer := w.postTo(graphql.Path, string(body), "Authorization", authorization, "Content-Type", "application/json")
	if resp.StatusCode != http.StatusUnauthorized || strings.TrimSpace(answer) != "Invalid access token." {
		w.t.Errorf("%s as %s: got %d %q, want 401 Invalid access token.", document, authorization, resp.StatusCode, answer)
	}
}
