package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
)

// TestReadersOnAPage: who loses a repository by the form of a site admin finds nothing in
// it with the next search, and who gets it finds it.
func TestReadersOnAPage(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a server")
	}
	keepMemoryLimit(t)
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("TRAWL_DATA", data)
	do := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), args, strings.NewReader("correct horse battery"), &stdout, &stderr); err != nil {
			t.Fatalf("trawl %s: %v\n%s", strings.Join(args, " "), err, &stderr)
		}
		return strings.TrimSpace(stdout.String())
	}
	do("index", repository(t, "kiln"))
	do("user", "create", "root", "--admin", "--password-stdin")
	tokens := map[string]string{"root": do("token", "create", "root")}
	for _, name := range []string{"ann", "bob"} {
		do("user", "create", name, "--password-stdin")
		tokens[name] = do("token", "create", name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, strings.NewReader(""), io.Discard, io.Discard)
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	awaitReady(t, data)
	f, err := serverfile.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(by, method, path string, form url.Values) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, f.URL()+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "token "+tokens[by])
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	found := func(want ...string) {
		t.Helper()
		for _, by := range []string{"ann", "bob"} {
			status, text := ask(by, "GET", "/.api/search/stream?q=glaze", nil)
			if status != http.StatusOK || !strings.Contains(text, "event: done") {
				t.Errorf("the search of %s: %d %s", by, status, text)
			}
			if has := strings.Contains(text, "event: matches"); has != strings.Contains(strings.Join(want, " "), by) {
				t.Errorf("%s finds something: %v, want that for %q", by, has, want)
			}
		}
	}
	set := func(readers string) {
		t.Helper()
		if status, text := ask("root", "POST", "/site-admin/repositories/1/readers", url.Values{"readers": {readers}}); status != http.StatusSeeOther {
			t.Fatalf("readers %q: %d %s", readers, status, text)
		}
	}
	found("ann", "bob")
	set("user:ann")
	found("ann")
	set("user:bob")
	found("bob")
	set("nobody")
	found()
	set("everyone")
	found("ann", "bob")
}
