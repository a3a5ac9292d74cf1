package browse_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

// text takes the tags out of a page.
func text(page string) string {
	page = regexp.MustCompile(`(?s)^.*<main[^>]*>|</main>.*$`).ReplaceAllString(page, "")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
}

func TestPages(t *testing.T) {
	w := newWorld(t)
	head := w.kiln.Git("rev-parse", "HEAD")
	first := w.kiln.Git("rev-parse", "HEAD~1")
	for _, tt := range []struct {
		path string
		want []string // parts of the page
	}{
		{"/lab/kiln", []string{"lab/kiln", "docs", "main.go", "executable", "symbolic link", "submodule at 1111111111", "Say new", `href="/under/lab/kiln/-/tree/docs"`}},
		{"/lab/kiln@v1.0", []string{"@v1.0", "Build the kiln", `href="/under/lab/kiln@v1.0/-/blob/main.go"`}},
		{"/lab/kiln@feature/-x/y", []string{"@feature/-x/y", `href="/under/lab/kiln@feature/-x/y/-/tree/docs"`}},
		{"/lab/kiln/-/tree/docs", []string{"guide.md", "a&amp;b", `href="/under/lab/kiln/-/tree/docs/a&amp;b"`, `href="/under/lab/kiln" aria-label="Parent directory">..`}},
		{"/lab/kiln/-/tree/clay", []string{"A submodule: commit", "1111111111111111111111111111111111111111"}},
		{"/lab/kiln/-/blob/main.go", []string{`<span class="k">package</span>`, `<tr id="L3">`, "Go", `href="/under/lab/kiln/-/raw/main.go"`, head + "/-/blob/main.go"}},
		{"/lab/kiln/-/blob/main.go?L2-3", []string{`<tr id="L2" class="hit">`, `<tr id="L3" class="hit">`, `tabindex="0" autofocus>2<`}},
		{"/lab/kiln/-/blob/main.go?L3:6-3:10", []string{`<tr id="L3" class="hit">`}},
		{"/lab/kiln/-/blob/photo.png", []string{`<img src="/under/lab/kiln/-/raw/photo.png?as=image" alt="photo.png">`}},
		{"/lab/kiln/-/blob/link", []string{"symbolic link", "/etc/passwd"}},
		{"/lab/kiln/-/blob/page.html", []string{"&lt;"}},
		{"/lab/kiln/-/commits", []string{"Say new", "Build the kiln", "2 Jan 2026", "/under/lab/kiln/-/commit/" + head}},
		{"/lab/kiln/-/commits/docs", []string{"Build the kiln"}},
		{"/lab/kiln/-/commits?skip=1", []string{"Build the kiln", "Newer"}},
		{"/lab/kiln/-/commit/" + head, []string{"Say new", "ada@example.org", `<tr class="plus">`, `<tr class="minus">`, "+1", first[:10]}},
		{"/lab/kiln/-/commit/" + first, []string{"Build the kiln", "With bricks.", "Its lines are binary.", "added"}},
		{"/lab/kiln/-/commit/v1.0", []string{"Build the kiln", "Branches and tags", `<a href="/under/lab/kiln@feature/-x/y"><bdi>feature/-x/y</bdi></a>`, `<a href="/under/lab/kiln@v1.0"><bdi>v1.0</bdi></a>`}},
		{"/lab/kiln/-/branches", []string{"main", "default", "feature/-x/y", "v1.0", `href="/under/lab/kiln@feature/-x/y"`}},
		{"/lab/kiln/-/compare/v1.0...main", []string{"Say new", `<tr class="plus">`}},
		{"/lab/kiln/-/compare/main...v1.0", []string{"main has every commit of v1.0"}},
		{"/lab/empty", []string{"no commit yet"}},
	} {
		got := w.get(tt.path)
		if got.status != 200 || got.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: got %d %s: %.200s", tt.path, got.status, got.header.Get("Content-Type"), got.body)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(got.body, part) && !strings.Contains(text(got.body), part) {
				t.Errorf("%s: the page does not have %s:\n%s", tt.path, part, got.body)
			}
		}
		policy := got.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe-inline") {
			t.Errorf("%s: policy %q", tt.path, policy)
		}
	}
	if got := text(w.get("/lab/kiln/-/commits/docs").body); strings.Contains(got, "Say new") {
		t.Errorf("commits of docs: got %s, want those that changed it", got)
	}
}

func TestPageRedirects(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]string{
		"/lab/kiln/-/blob/docs":             "/under/lab/kiln/-/tree/docs",
		"/lab/kiln/-/blob":                  "/under/lab/kiln",
		"/lab/kiln@v1.0/-/blob/docs/a&b?L1": "/under/lab/kiln@v1.0/-/tree/docs/a&b?L1",
		"/lab/kiln/-/blob/clay":             "/under/lab/kiln/-/tree/clay",
		"/lab/kiln/-/tree/main.go":          "/under/lab/kiln/-/blob/main.go",
		"/lab/kiln@v1.0/-/tree/run.sh?L7":   "/under/lab/kiln@v1.0/-/blob/run.sh?L7",
	} {
		got := w.get(path)
		if got.status != http.StatusFound || got.header.Get("Location") != want {
			t.Errorf("%s: got %d to %q, want %s", path, got.status, got.header.Get("Location"), want)
		}
	}
}

func TestPagesThatAreNot(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]string{
		"/nothing":                        "repository not found",
		"/lab/secret":                     "repository not found",
		"/lab/secret/-/commits":           "repository not found",
		"/lab/secret/-/commit/main":       "repository not found",
		"/lab/secret/-/branches":          "repository not found",
		"/lab/secret/-/compare/a...b":     "repository not found",
		"/lab/next":                       "Repository unavailable while cloning.",
		"/lab/kiln@nothing":               `revision not found: "nothing"`,
		"/lab/kiln@-x":                    `revision not found: "-x"`,
		"/lab/kiln/-/commit/--all":        `revision not found: "--all"`,
		"/lab/kiln/-/commit/main:docs":    `revision not found: "main:docs"`,
		"/lab/kiln/-/compare/main":        `"main" names no two revisions: write base...head`,
		"/lab/kiln/-/compare/main...-x":   `revision not found: "-x"`,
		"/lab/kiln/-/compare/--all..main": `revision not found: "--all"`,
		"/lab/kiln/-/blob/nothing":        `file does not exist: "nothing"`,
		"/lab/kiln/-/tree/link/etc":       `file does not exist: "link/etc"`,
		"/lab/kiln/-/other":               "page not found",
		"/.api/nothing":                   "no route",
		"/.api/lab/-/raw/x":               "no route",
	} {
		if got := w.get(path); got.status != 404 || got.body != want+"\n" {
			t.Errorf("%s: got %d %q, want 404 %s", path, got.status, got.body, want)
		}
	}
	if got := w.get("/lab/kiln/-/commits?skip=-1"); got.status != 400 {
		t.Errorf("a negative skip: got %d, want 400", got.status)
	}
}

func TestPagesOfPrivate(t *testing.T) {
	w := newWorld(t, func(w *world) { w.Gate.Anonymous = auth.AnonymousNo })
	for _, path := range []string{"/lab/kiln", "/lab/nothing", "/lab/secret/-/blob/plan.txt"} {
		got := w.get(path)
		if got.status != http.StatusFound || !strings.HasPrefix(got.header.Get("Location"), "/under/sign-in?returnTo=") {
			t.Errorf("%s: got %d to %q, want to be led to sign in", path, got.status, got.header.Get("Location"))
		}
	}
	if got := w.get("/lab/secret", w.As("bob")...); got.status != 404 {
		t.Errorf("as bob: got %d, want 404", got.status)
	}
	if got := w.get("/lab/secret", w.As("ann")...); got.status != 200 || !strings.Contains(got.body, "plan.txt") {
		t.Errorf("as ann: got %d, want the files", got.status)
	}
}

// Whatever files are called, pages hold no markup of theirs, and each link
// leads to the file.
func TestHostilePages(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	w := newWorld(t)
	odd := w.git("odd")
	names := slices.DeleteFunc(slices.Sorted(slices.Values(oddNames)), func(n string) bool { return n == ".." })
	hostile(odd, names...)
	odd.Git("tag", `x"onclick=alert(1)`)
	w.AddSource("lab/odd=" + odd.Dir)
	w.Sync("lab/odd")
	pages := []string{"/lab/odd", "/lab/odd/-/branches", "/lab/odd/-/commit/main", "/lab/odd@x%22onclick=alert(1)"}
	for _, name := range names {
		pages = append(pages, "/lab/odd/-/blob/"+escape(name), "/lab/odd/-/commits/"+escape(name))
	}
	evil := regexp.MustCompile(`(?i)<img src=x|<[^>]*\sonclick=|href="javascript:|\{\{`)
	for _, path := range pages {
		got := w.get(path)
		if got.status != 200 || got.header.Get("X-Evil") != "" {
			t.Errorf("%.80s: got %d: %.200s", path, got.status, got.body)
		}
		body := strings.ReplaceAll(got.body, "{{.}}", "")
		if found := evil.FindString(body); found != "" {
			t.Errorf("%.80s: the page holds %q", path, found)
		}
	}
	links := regexp.MustCompile(`href="/under(/lab/odd/-/blob/[^"]*)"`).FindAllStringSubmatch(w.get("/lab/odd").body, -1)
	if len(links) != len(names) {
		t.Errorf("the directory links %d files, want %d", len(links), len(names))
	}
	for _, l := range links {
		if got := w.get(strings.ReplaceAll(strings.ReplaceAll(l[1], "&amp;", "&"), "&#43;", "+")); got.status != 200 || !strings.Contains(got.body, "clay") {
			t.Errorf("the link %.80s: got %d, want the file", l[1], got.status)
		}
	}
	for _, path := range []string{"/lab/odd/-/tree/" + escape("a\nb: c\r\nX-Evil: 1"), "/lab/odd@main%0d%0aX-Evil:1/-/blob/x"} {
		if got := w.get(path); got.header.Get("X-Evil") != "" {
			t.Errorf("%s: got header %v", path, got.header)
		}
	}
}

// A repository on this machine is there before it is indexed: nothing clones it.
func TestPagesBeforeTheIndex(t *testing.T) {
	w := newWorld(t)
	w.AddSource("lab/early=" + w.kiln.Dir)
	for path, want := range map[string]string{
		"/lab/early":                  "main.go",
		"/lab/early/-/blob/main.go":   "3 lines",
		"/lab/early/-/commits":        "Say new",
		"/lab/early@v1.0/-/tree/docs": "guide.md",
	} {
		if got := w.get(path); got.status != 200 || !strings.Contains(text(got.body), want) {
			t.Errorf("%s: got %d, want a page with %s: %s", path, got.status, want, got.body)
		}
	}
}
