package browse_test

import (
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A symbolic link leads to what it names in the repository, and nowhere else.
func TestLinkTargets(t *testing.T) {
	w := newWorld(t)
	w.kiln.Write("docs/<b>.txt", "clay\n")
	links := map[string]struct{ to, want string }{
		"to-file":       {"docs/guide.md", "/under/lab/kiln/-/blob/docs/guide.md"},
		"to-dir":        {"docs/", "/under/lab/kiln/-/tree/docs"},
		"to-root":       {".", "/under/lab/kiln"},
		"docs/up":       {"../main.go", "/under/lab/kiln/-/blob/main.go"},
		"docs/side":     {"./a&b/../guide.md", "/under/lab/kiln/-/blob/docs/guide.md"},
		"to-odd":        {"docs/<b>.txt", "/under/lab/kiln/-/blob/docs/%3Cb%3E.txt"},
		"to-clay":       {"clay", "/under/lab/kiln/-/tree/clay"},
		"to-nothing":    {"nothing", ""},
		"to-parent":     {"..", ""},
		"docs/outside":  {"../../lab/secret", ""},
		"docs/absolute": {"/main.go", ""},
		"through":       {"to-dir/guide.md", ""},
		"self":          {"self", ""},
		"script":        {"javascript:alert(1)", ""},
	}
	for name, link := range links {
		w.Must(os.Symlink(link.to, filepath.Join(w.kiln.Dir, name)))
		w.kiln.Git("add", "--", name)
	}
	w.kiln.Commit("Links")
	w.Sync("lab/kiln")
	for name, link := range links {
		got := w.get("/lab/kiln/-/blob/" + name)
		m := regexp.MustCompile(`<a id="linksto" href="([^"]*)">`).FindStringSubmatch(got.body)
		to := ""
		if m != nil {
			to = html.UnescapeString(m[1])
		}
		if got.status != http.StatusOK || to != link.want || !strings.Contains(html.UnescapeString(text(got.body)), link.to) || strings.Contains(got.body, "<b>") {
			t.Errorf("%s to %s: %d leads to %q, want %q: %s", name, link.to, got.status, to, link.want, text(got.body))
		}
		if to != "" {
			if a := w.get(strings.TrimPrefix(to, "/under")); a.status != http.StatusOK {
				t.Errorf("%s leads to %s: %d", name, to, a.status)
			}
		}
	}
	if got := w.get("/lab/kiln@main/-/blob/to-file"); !strings.Contains(got.body, `href="/under/lab/kiln@main/-/blob/docs/guide.md"`) {
		t.Error("a link leads to another revision")
	}
}

// The page of a submodule says where it comes from. Only what is a web page is a link.
func TestSubmodulePage(t *testing.T) {
	w := newWorld(t)
	for address, want := range map[string]string{
		"https://example.org/clay.git":         `of <a href="https://example.org/clay.git" rel="noreferrer">https://example.org/clay.git</a>.`,
		"http://example.org/clay":              `of <a href="http://example.org/clay" rel="noreferrer">`,
		"https://ann:secret@example.org/clay":  `of <a href="https://example.org/clay" rel="noreferrer">https://example.org/clay</a>.`,
		"git@example.org:lab/clay.git":         `of <code>git@example.org:lab/clay.git</code>.`,
		"../clay.git":                          `of <code>../clay.git</code>.`,
		"ssh://git@example.org/clay":           `of <code>ssh://example.org/clay</code>.`,
		"javascript:alert(1)":                  `of <code>javascript:alert(1)</code>.`,
		"javascript://example.org/%0aalert(1)": `of <code>`,
		`"><img src=x onerror=alert(1)>`:       `of <code>`,
		"":                                     `of another repository.`,
	} {
		modules := "[submodule \"clay\"]\n\tpath = clay\n\turl = " + strings.ReplaceAll(address, `"`, `\"`) + "\n[submodule \"x\"]\n\tpath = x\n\turl = https://example.org/x\n"
		w.kiln.Write(".gitmodules", modules)
		w.kiln.Commit("Modules")
		w.Sync("lab/kiln")
		got := w.get("/lab/kiln/-/tree/clay")
		if got.status != http.StatusOK || !strings.Contains(got.body, "A submodule: commit <code>1111111111111111111111111111111111111111</code> "+want) {
			t.Errorf("%s: %d %s, want %s", address, got.status, regexp.MustCompile(`(?s)<p>A submodule.*?</p>`).FindString(got.body), want)
		}
		if strings.Contains(got.body, "secret@") || strings.Contains(got.body, "<img") {
			t.Errorf("%s: the page has a secret or markup", address)
		}
	}
	if got := w.get("/lab/kiln@v1.0/-/tree/clay"); !strings.Contains(got.body, "of another repository.") {
		t.Error("an older commit has the address of a newer one")
	}
}
