package browse_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hunkCells are the cells of a page that tell who wrote lines, without markup.
func hunkCells(body string) (out []string) {
	tag := regexp.MustCompile(`<[^>]*>`)
	for _, m := range regexp.MustCompile(`(?s)<td class="by heat(\d)" rowspan="(\d+)">(.*?)</td>`).FindAllStringSubmatch(body, -1) {
		text := regexp.MustCompile(`^[0-9a-f]{10} `).ReplaceAllString(tag.ReplaceAllString(m[3], ""), "")
		out = append(out, m[2]+" "+text+" heat "+m[1])
	}
	return out
}

func TestBlamePage(t *testing.T) {
	w := newWorld(t)
	a := w.get("/lab/kiln/-/blame/main.go")
	if a.status != http.StatusOK {
		t.Fatalf("%d: %.300s", a.status, a.body)
	}
	got := strings.Join(hunkCells(a.body), "|")
	if want := "2 Ada 4 months ago heat 3|1 Ada 4 months ago &larr; heat 3"; got != want {
		t.Errorf("the hunks are %q, want %q", got, want)
	}
	first := w.kiln.Git("rev-parse", "v1.0")
	if before := "/under/lab/kiln@" + first + "/-/blame/main.go?L3"; !strings.Contains(a.body, before) {
		t.Errorf("nothing leads to %s", before)
	}
	if a := w.get("/lab/kiln@" + first + "/-/blame/main.go?L3"); a.status != http.StatusOK || len(hunkCells(a.body)) != 1 || strings.Contains(a.body, `class="before"`) {
		t.Errorf("the blame before: %d %q", a.status, hunkCells(a.body))
	}
	for path, want := range map[string]int{
		"/lab/kiln/-/blame/photo.png": 200, "/lab/kiln/-/blame/link": 200, "/lab/kiln/-/blame/nothing": 404, "/lab/kiln/-/blame/docs": 302, "/lab/kiln/-/blame/clay": 302,
		"/lab/secret/-/blame/plan.txt": 404, "/lab/empty/-/blame/x": 404, "/lab/kiln@nowhere/-/blame/main.go": 404, "/lab/kiln/-/blame/a%2F..%2F..%2Fmain.go": 301,
	} {
		if a := w.get(path); a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
	}
	if a := w.get("/lab/secret/-/blame/plan.txt", w.As("ann")...); a.status != http.StatusOK || len(hunkCells(a.body)) != 1 {
		t.Errorf("ann sees %d %q", a.status, hunkCells(a.body))
	}
}

// A blame that takes too long leaves the text.
func TestBlameTooLong(t *testing.T) {
	w := newWorld(t, func(w *world) { w.blameWithin = time.Nanosecond })
	a := w.get("/lab/kiln/-/blame/main.go")
	if a.status != http.StatusOK || !strings.Contains(a.body, "too many commits changed the file") || !strings.Contains(a.body, `id="L3"`) || len(hunkCells(a.body)) != 0 {
		t.Errorf("%d: %.3000s", a.status, a.body)
	}
}

// Authors, subjects and paths of strangers are text, in links too.
func TestBlameOfStrangers(t *testing.T) {
	w := newWorld(t)
	const odd = `x"><script>alert(1)</script>.txt`
	w.kiln.Write(odd, "one\ntwo\n")
	w.kiln.Env = append(w.kiln.Env, `GIT_AUTHOR_NAME="><script>alert(2)</script>`+"\u202e")
	w.kiln.Commit(`"><img src=x onerror=alert(3)>` + strings.Repeat("<", 5000))
	w.kiln.Write(odd, "one\n2\n")
	w.kiln.Commit("Again")
	w.Sync("lab/kiln")
	a := w.get("/lab/kiln/-/blame/x%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E.txt")
	for _, bad := range []string{"<script>alert", "<img", "\u202e"} {
		if strings.Contains(a.body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := len(hunkCells(a.body)); a.status != http.StatusOK || n != 2 || len(a.body) > 20_000 {
		t.Errorf("%d with %d hunks in %d bytes", a.status, n, len(a.body))
	}
}

// Without git there is the text, and why nobody can be named.
func TestBlameWithoutGit(t *testing.T) {
	w := newWorld(t)
	if err := os.RemoveAll(filepath.Join(w.Dir, "kiln")); err != nil {
		t.Fatal(err)
	}
	a := w.get("/lab/kiln/-/blame/main.go")
	if a.status != http.StatusOK || !strings.Contains(a.body, `id="L3"`) || len(hunkCells(a.body)) != 0 || !strings.Contains(a.body, "what was indexed") {
		t.Errorf("%d: %.2000s", a.status, a.body)
	}
}

// A switch of the revision keeps the path, and leads nowhere else.
func TestSwitchKeepsPath(t *testing.T) {
	w := newWorld(t)
	if a := w.get("/lab/kiln/-/blob/main.go"); !strings.Contains(a.body, `href="/under/lab/kiln/-/branches?path=main.go"`) {
		t.Errorf("the page of a file has no switch")
	}
	for query, want := range map[string]string{
		"path=main.go": "/under/lab/kiln@v1.0/-/tree/main.go", "path=main.go&view=blame": "/under/lab/kiln@v1.0/-/blame/main.go",
		"path=main.go&view=commits": "/under/lab/kiln@v1.0/-/commits/main.go", "": "/under/lab/kiln@v1.0", "path=../../x": "/under/lab/kiln@v1.0", "path=main.go&view=evil": "/under/lab/kiln@v1.0/-/tree/main.go",
	} {
		if a := w.get("/lab/kiln/-/branches?" + query); a.status != http.StatusOK || !strings.Contains(a.body, `<a href="`+want+`">v1.0</a>`) {
			t.Errorf("%q: %d, nothing leads to %s", query, a.status, want)
		}
	}
	for query, want := range map[string]string{
		"rev=v1.0&path=main.go&view=blame": "/under/lab/kiln@v1.0/-/blame/main.go", "rev=HEAD~1": "/under/lab/kiln@HEAD~1", "rev=//evil.example": "/under/lab/kiln@/evil.example",
		"rev=a%0d%0aSet-Cookie:x": "/under/lab/kiln@a%0D%0ASet-Cookie:x", "rev=x&path=%22%3E%3Cscript%3E": "/under/lab/kiln@x/-/tree/%22%3E%3Cscript%3E",
		"head=v1.0&base=main": "/under/lab/kiln/-/compare/main...v1.0", "head=+v1.0+": "/under/lab/kiln/-/compare/HEAD...v1.0", "head=%3Cb%3E%0d%0a&base=//evil.example": "/under/lab/kiln/-/compare/evil.example...%3Cb%3E",
	} {
		if a := w.get("/lab/kiln/-/branches?" + query); a.status != http.StatusFound || a.header.Get("Location") != want {
			t.Errorf("%q: %d to %q, want %q", query, a.status, a.header.Get("Location"), want)
		}
	}
	if a := w.get("/lab/secret/-/branches?rev=main"); a.status != http.StatusNotFound {
		t.Errorf("lab/secret: %d", a.status)
	}
}
