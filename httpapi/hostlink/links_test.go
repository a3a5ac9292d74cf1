package hostlink

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
)

func TestHost(t *testing.T) {
	l, err := Parse("git.lab.example=gitlab, code.example:8443=https://show.example/r/{repository}?at={commit}&f={path}&l={line} GITHUB.internal=gitea", "")
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"https://github.com/lab/kiln.git":          "https://github.com/lab/kiln/blob/c0ffee/a%20b/x%23y.go#L7",
		"https://me:secret@GitHub.com/lab/kiln":    "https://github.com/lab/kiln/blob/c0ffee/a%20b/x%23y.go#L7",
		"git@github.com:lab/kiln.git":              "https://github.com/lab/kiln/blob/c0ffee/a%20b/x%23y.go#L7",
		"ssh://git@gitlab.com:22/lab/sub/kiln.git": "https://gitlab.com/lab/sub/kiln/-/blob/c0ffee/a%20b/x%23y.go#L7",
		"https://bitbucket.org/lab/kiln":           "https://bitbucket.org/lab/kiln/src/c0ffee/a%20b/x%23y.go#lines-7",
		"https://codeberg.org/lab/kiln":            "https://codeberg.org/lab/kiln/src/commit/c0ffee/a%20b/x%23y.go#L7",
		"http://gitea.local:3000/lab/kiln.git":     "http://gitea.local:3000/lab/kiln/src/commit/c0ffee/a%20b/x%23y.go#L7",
		"https://git.lab.example/lab/kiln":         "https://git.lab.example/lab/kiln/-/blob/c0ffee/a%20b/x%23y.go#L7",
		"https://github.internal/lab/kiln":         "https://github.internal/lab/kiln/src/commit/c0ffee/a%20b/x%23y.go#L7",
		"https://code.example:8443/lab/kiln.git":   "https://show.example/r/lab/kiln?at=c0ffee&f=a%20b/x%23y.go&l=7",
		// no host, or none that is known
		"https://example.org/lab/kiln": "", "/srv/git/kiln": "", "file:///srv/kiln": "", "https://github.com/": "", "https://github.com.evil.example/lab/kiln": "https://github.com.evil.example/lab/kiln/blob/c0ffee/a%20b/x%23y.go#L7",
		"javascript:alert(1)": "", "ext::sh -c x": "", "https://git\"hub.com/x": "", "https://evil.example/github.com/lab/kiln": "", "https://github.com@evil.example/lab/kiln": "",
		// names do nothing
		"https://github.com/../../x\"><script>": "https://github.com/%2E%2E/%2E%2E/x%22%3E%3Cscript%3E/blob/c0ffee/a%20b/x%23y.go#L7",
		"https://github.com/{line}{path}":       "https://github.com/%7Bline%7D%7Bpath%7D/blob/c0ffee/a%20b/x%23y.go#L7",
	} {
		got := ""
		link := l.Host(&store.Repository{Name: "x", Source: source, Mirror: true}, "c0ffee", "a b/x#y.go", 7)
		if link != nil {
			got = string(link.URL)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	at := l.Host(&store.Repository{Source: "https://github.com/a/b", Mirror: true}, "c", "x", 0)
	if at.URL != "https://github.com/a/b/blob/c/x" || at.Pattern != "https://github.com/a/b/blob/c/x#L{line}" || at.Title != "On github.com" {
		t.Errorf("without a line: %+v", at)
	}
	if l.Host(&store.Repository{Source: "https://github.com/a/b"}, "c", "x", 0) != nil {
		t.Error("a folder of this machine is on a code host")
	}
	if at := l.Host(&store.Repository{Source: "https://ghe.example/a/b", Mirror: true, Origin: &store.Origin{Kind: "github"}}, "c", "x", 0); at == nil || at.URL != "https://ghe.example/a/b/blob/c/x" {
		t.Errorf("a host of a known kind: %+v", at)
	}
}

func TestEditor(t *testing.T) {
	l, err := Parse("", "vscode://file/home/me/src/{repository}/{path}:{line}")
	if err != nil {
		t.Fatal(err)
	}
	if at := l.Editor(&store.Repository{Name: "lab/../kiln"}, "c", "a/\"<b>.go", 0); at.URL != "vscode://file/home/me/src/lab/%2E%2E/kiln/a/%22%3Cb%3E.go:1" {
		t.Errorf("got %q", at.URL)
	}
	if (Links{}).Editor(&store.Repository{}, "c", "x", 1) != nil {
		t.Error("an editor that is not set has a link")
	}
}

// A pattern that could run something, or lead elsewhere, is refused.
func TestParseRefuses(t *testing.T) {
	for _, pattern := range []string{
		"javascript:alert({path})", "JavaScript:alert({path})", " javascript:{path}", "data:text/html,{path}", "vbscript:{path}", "file:///{path}", "blob:{path}", "view-source:https://x/{path}",
		"{path}", "//evil/{path}", "https://{repository}/{path}", "https://{path}", "https://a{path}.example/", "https:{path}", "https://me:pw@x/{path}", "https://x/", "https://x/{pth}{path}",
		"https://x/{path}\"onclick=x", "https://x/<{path}", "https://x/{path}\n", "https://x/é{path}", "https://x/" + strings.Repeat("a", 600) + "{path}", "1x:{path}", ":{path}",
	} {
		if _, err := parsePattern(pattern, false); err == nil {
			t.Errorf("the editor takes %.80q", pattern)
		}
		if _, err := parsePattern(pattern, true); err == nil {
			t.Errorf("a host takes %.80q", pattern)
		}
	}
	if _, err := parsePattern("vscode://file/{path}", true); err == nil {
		t.Error("a host takes the scheme of an editor")
	}
	for _, hosts := range []string{"x", "=gitlab", "x=svn", "a b=gitlab", "x/y=gitlab", "x=", "-x=gitlab", "x=javascript:{path}"} {
		if _, err := Parse(hosts, ""); err == nil {
			t.Errorf("%q is taken", hosts)
		}
	}
}
