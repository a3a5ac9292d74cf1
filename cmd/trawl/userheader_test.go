package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
)

// TestUserHeader has nginx sign people in, with the lines that docs/users.md has for it,
// before a real server.
func TestUserHeader(t *testing.T) {
	keepMemoryLimit(t)
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "users.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?s)    auth_basic trawl;\n.*?\n\n`).FindString(string(manual))
	if lines == "" {
		t.Fatal("docs/users.md has no lines for nginx")
	}
	dir := t.TempDir()
	people := filepath.Join(dir, "people")
	writeText(t, people, "ann:{PLAIN}kiln\neve:{PLAIN}clay\n")
	listen := freeAddress(t)
	upstream := freeAddress(t)
	lines = strings.ReplaceAll(lines, "/etc/nginx/people", people)
	nginx := runNginx(t, listen, "nginx.conf", "127.0.0.1:7080;\n\tkeepalive", upstream+";\n\tkeepalive", "location / {\n", "location / {\n"+lines)

	data := filepath.Join(dir, "data")
	t.Setenv("TRAWL_DATA", data)
	file := filepath.Join(dir, "trawl.yaml")
	writeText(t, file, "external-url: https://"+listen+"\ntrusted-proxies: 127.0.0.1\nuser-header: x-forwarded-user\npasswords: false\n")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--config", file, "--listen", upstream, "--log-level", "error"}, strings.NewReader(""), io.Discard, io.Discard)
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	awaitReady(t, data)
	if err := run(t.Context(), []string{"user", "create", "--admin", "ann"}, strings.NewReader(""), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = nginx.Process.Kill()
		_ = nginx.Wait()
	}()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	f, err := serverfile.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	// who asks for the name of the user at an address, and says what the header is.
	who := func(base, name, password, header string) string {
		t.Helper()
		for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/.api/graphql", strings.NewReader(`{"query":"{ currentUser { username siteAdmin } }"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = listen
			req.Header.Set("X-Requested-With", "test")
			if name != "" {
				req.SetBasicAuth(name, password)
			}
			if header != "" {
				req.Header.Set("X-Forwarded-User", header)
			}
			resp, err := (&http.Client{Transport: transport}).Do(req)
			if err != nil {
				if time.Since(begun) > patience {
					t.Fatal(err)
				}
				continue
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			var answer struct {
				Data struct {
					CurrentUser struct {
						Username  string
						SiteAdmin bool
					}
				}
			}
			if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil {
				return resp.Status
			}
			if u := answer.Data.CurrentUser; u.SiteAdmin {
				return u.Username + ", site admin"
			}
			return answer.Data.CurrentUser.Username
		}
	}
	proxy := "https://" + listen
	for _, tt := range []struct{ name, password, header, want string }{
		{"ann", "kiln", "", "ann, site admin"}, {"eve", "clay", "", "eve"}, {"eve", "clay", "ann", "eve"},
		{"eve", "kiln", "", "401 Unauthorized"}, {"", "", "ann", "401 Unauthorized"},
	} {
		if got := who(proxy, tt.name, tt.password, tt.header); got != tt.want {
			t.Errorf("%s with %q and the header %q is %s, want %s", tt.name, tt.password, tt.header, got, tt.want)
		}
	}
	// Beside the proxy, but from its address, the header is what the manual warns of.
	if got := who(f.URL(), "", "", ""); got != "401 Unauthorized" {
		t.Errorf("past the proxy: got %s", got)
	}
}
