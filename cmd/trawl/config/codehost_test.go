package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// A code host of the file has its secrets when they are needed, as they are then, and
// shows none of them.
func TestCodeHosts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("token", "S3cr3tOne\n")
	t.Setenv("TRAWL_TEST_HOOK", "S3cr3tHook")
	f, err := config.ParseFile(filepath.Join(dir, "trawl.yaml"), []byte(`
code-hosts:
  - name: ours
    kind: github
    url: https://github.example.org
    token-file: token
    webhook-secret-env: TRAWL_TEST_HOOK
    orgs: [acme, lab]
    exclude:
      - archived: true
      - size: "> 1 GB"
  - name: plain
    kind: other
    repos: ["https://me:S3cr3tPw@git.example.org/x"]
`))
	if err != nil || len(f.CodeHosts) != 2 {
		t.Fatalf("got %+v, %v; want two", f, err)
	}
	ours := f.CodeHosts[0]
	if ours.Name != "ours" || ours.Kind != "GITHUB" {
		t.Errorf("got %+v", ours)
	}
	for _, h := range f.CodeHosts {
		if strings.Contains(h.Shown(), "S3cr3t") || !strings.Contains(h.Shown(), "REDACTED") {
			t.Errorf("shown: %s", h.Shown())
		}
	}
	for _, token := range []string{"S3cr3tOne", "S3cr3tTwo"} {
		write("token", token+"\n")
		if text, err := ours.Config(); err != nil || !strings.Contains(text, `"`+token+`"`) || !strings.Contains(text, "S3cr3tHook") || !strings.Contains(text, "1 GB") {
			t.Errorf("got %s, %v", text, err)
		}
	}
	write("token", " \n")
	if text, err := ours.Config(); err == nil || text != "" {
		t.Errorf("an empty file: %s, %v", text, err)
	}
}

func TestCodeHostErrors(t *testing.T) {
	for _, tt := range []struct{ entry, want string }{
		{`{kind: github, url: "https://x", orgs: [a]}`, "needs a name and a kind"},
		{`{name: a, kind: perforce, url: "https://x"}`, "kind PERFORCE are not supported"},
		{`{name: a, kind: github, url: "https://x", odd: 1}`, "Additional property odd is not allowed"},
		{`{name: a, kind: github, url: "file:///etc", orgs: [a]}`, "begins with https"},
		{`{name: a, kind: github, url: "https://x", orgs: [a], orgs: [b]}`, "stands here twice"},
		{`{name: a, kind: github, url: "https://x", orgs: [a]}, {name: a, kind: github, url: "https://y", orgs: [a]}`, "two code hosts called"},
		{`{name: a, kind: github, url: "https://me:S3cr3t@x", orgs: [a]}`, "write the token as token"},
		{`{name: a, kind: github, url: "https://x", token: [S3cr3t], orgs: [a]}`, "token: expected one value"},
		{`{name: a, kind: other, reposFile: [a]}`, "reposFile: expected one value"},
		{`{name: a, kind: other, reposFile: a, repos: [x]}`, "give one of repos, reposURL and reposFile"},
		{`x`, "expected keys"},
	} {
		_, err := config.ParseFile("/etc/trawl.yaml", []byte("code-hosts: ["+tt.entry+"]"))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "S3cr3t") {
			t.Errorf("%s: %v, want %q in it", tt.entry, err, tt.want)
		}
	}
}
