package browse_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// changes are the subjects of the commits of a page of the history of lines.
func changes(page string) (out []string) {
	for _, m := range regexp.MustCompile(`<section class="file change">\s*<h2><a href="[^"]*">(.*?)</a>`).FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// pottery adds a repository whose file changed lines 2 to 3 in some commits.
func (w *world) pottery(name string) {
	w.Helper()
	repo := w.git("pottery")
	lines := []string{"package a", "func f() int { return 1 }", "// two", "var x = 1", ""}
	commit := func(path, message string) {
		w.Helper()
		repo.Write(path, strings.Join(lines, "\n"))
		repo.Commit(message)
	}
	commit("old.go", "Begin")
	lines[2] = "// </script><img src=x onerror=alert(1)>"
	commit("old.go", "Attack <b>")
	lines[3] = "var x = 2"
	commit("old.go", "Elsewhere")
	repo.Git("mv", "--", "old.go", name)
	lines[1] = "func f() int { return 2 }"
	commit(name, "Move")
	repo.Write("binary", "a\x00b\nc\n")
	repo.Write("wide.txt", "\xff\xfea\x00\n\x00")
	repo.Write("large.txt", strings.Repeat("x\n", 3<<20))
	repo.Write("dir/x.txt", "x\n")
	repo.Commit("Others")
	w.AddSource("lab/pottery=" + repo.Dir)
	w.Sync("lab/pottery")
}

func TestLineHistory(t *testing.T) {
	const name = "-:10,20:a.go"
	w := newWorld(t)
	w.pottery(name)
	page := "/lab/pottery/-/commits/" + url.PathEscape(name)
	for query, want := range map[string][]string{
		"?L2-3": {"Move", "Attack &lt;b&gt;", "Begin"}, "?L3": {"Attack &lt;b&gt;", "Begin"}, "?L4:1-4:2": {"Elsewhere", "Begin"}, "?L3-2": {"Move", "Attack &lt;b&gt;", "Begin"},
		"?L3-99999999": {"Elsewhere", "Attack &lt;b&gt;", "Begin"}, "?L2-3&skip=2": {"Begin"}, "?L2-3&skip=99": nil, "?L2-3&view=split": {"Move", "Attack &lt;b&gt;", "Begin"},
	} {
		a := w.get(page + query)
		if got := changes(a.body); a.status != http.StatusOK || !slices.Equal(got, want) {
			t.Errorf("%s: %d %q, want %q", query, a.status, got, want)
		}
		if strings.Contains(a.body, "<img") || strings.Contains(a.body, "<b>") {
			t.Errorf("%s: the page has markup of strangers", query)
		}
	}
	body := w.get(page + "?L2-3").body
	got := rows(body)
	if want := []string{"||@@ -2,2 +2,2 @@", "2||-func f() int { return 1 }", "|2|+func f() int { return 2 }"}; len(got) < 3 || !slices.Equal(got[:3], want) {
		t.Errorf("the first rows are %q, want %q", got, want)
	}
	for _, part := range []string{"<h1>History of lines 2&ndash;3</h1>", `+<span class="k">func</span>`, "old.go &rarr; ", `href="/under/lab/pottery/-/blob/-:10,20:a.go?L2-3"`, `href="/under/lab/pottery/-/commits/-:10,20:a.go?L2-3&amp;view=split"`} {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if split := rows(w.get(page + "?L2-3&view=split").body); len(split) < 2 || split[1] != "2|func f() int { return 1 }|2|func f() int { return 2 }" {
		t.Errorf("side by side the rows are %q", split)
	}
	// What names no lines is the history of the file, and so is that of a folder.
	for _, address := range []string{page + "?L0", page + "?L-5", page + "?L99999999999", page, "/lab/pottery/-/commits/dir?L1", "/lab/pottery/-/commits?L1"} {
		if a := w.get(address); a.status != http.StatusOK || !strings.Contains(a.body, "<h1>Commits</h1>") {
			t.Errorf("%s: %d, want a list of commits", address, a.status)
		}
	}
	for address, want := range map[string]string{
		page + "?L99999999":                      "The file ends before these lines: it has 4.",
		"/lab/pottery/-/commits/binary?L1":       "The file is binary.",
		"/lab/pottery/-/commits/wide.txt?L1":     "The file is binary.",
		"/lab/pottery/-/commits/large.txt?L1-10": "The file is too large for its lines to be followed.",
	} {
		if a := w.get(address); a.status != http.StatusOK || !strings.Contains(a.body, want) || changes(a.body) != nil {
			t.Errorf("%s: %d %q, want %q", address, a.status, changes(a.body), want)
		}
	}
	for address, want := range map[string]int{
		"/lab/pottery/-/commits/nothing?L1": 404, "/lab/pottery@--output=x/-/commits/dir/x.txt?L1": 404, "/lab/pottery@-5/-/commits/dir/x.txt?L1": 404, page + "?L2&skip=-1": 400,
		"/lab/secret/-/commits/plan.txt?L1": 404, "/lab/empty/-/commits/x?L1": 200, "/lab/pottery@HEAD~1/-/commits/" + url.PathEscape(name) + "?L2": 200,
	} {
		if a := w.get(address); a.status != want {
			t.Errorf("%s: %d, want %d", address, a.status, want)
		}
	}
	if a := w.get("/lab/secret/-/commits/plan.txt?L1", w.As("ann")...); a.status != http.StatusOK || len(changes(a.body)) != 1 {
		t.Errorf("ann sees %d %q", a.status, changes(a.body))
	}
	// The page of a file leads there where the address names lines that it has; a script shows
	// the link where lines are chosen.
	for address, want := range map[string]string{
		"?L2-3": `<a id="linehistory" href="/under/lab/pottery/-/commits/-:10,20:a.go?L2-3">`, "": `<a id="linehistory" href="/under/lab/pottery/-/commits/-:10,20:a.go" hidden>`, "?L9": `?L9" hidden>`,
	} {
		for _, kind := range []string{"blob", "blame"} {
			if a := w.get("/lab/pottery/-/" + kind + "/" + url.PathEscape(name) + address); !strings.Contains(a.body, want) {
				t.Errorf("%s%s lacks %s", kind, address, want)
			}
		}
	}
	if a := w.get("/lab/pottery/-/blob/large.txt?L1"); strings.Contains(a.body, "linehistory") {
		t.Error("a file that is too large leads to the history of its lines")
	}
}

// Pages follow each other.
func TestLineHistoryPages(t *testing.T) {
	w := newWorld(t)
	repo := w.git("busy")
	for i := range 45 {
		repo.Write("a.txt", fmt.Sprintf("first\n%d\n", i))
		repo.Commit(fmt.Sprintf("No %d", i))
	}
	w.AddSource("lab/busy=" + repo.Dir)
	w.Sync("lab/busy")
	all := w.follow("/lab/busy/-/commits/a.txt?L2", changes)
	if len(all) != 45 || all[0] != "No 44" || all[44] != "No 0" || slices.ContainsFunc(all, func(s string) bool { return strings.Count(strings.Join(all, "|")+"|", s+"|") > 1 }) {
		t.Errorf("%d commits: %q", len(all), all)
	}
	if body := w.get("/lab/busy/-/commits/a.txt?L2&skip=20").body; !strings.Contains(body, `rel="prev" href="/under/lab/busy/-/commits/a.txt?L2"`) || !strings.Contains(body, `a.txt?L2&amp;skip=40"`) {
		t.Error("the second page does not lead to those beside it")
	}
}

// A history that takes too long says so.
func TestLineHistoryTooLong(t *testing.T) {
	w := newWorld(t, func(w *world) { w.blameWithin = time.Nanosecond })
	a := w.get("/lab/kiln/-/commits/main.go?L1")
	if a.status != http.StatusOK || !strings.Contains(a.body, "Git could not follow these lines any further within 1ns.") || len(changes(a.body)) != 0 {
		t.Errorf("%d: %.3000s", a.status, a.body)
	}
}

// Without git there is the reason.
func TestLineHistoryWithoutGit(t *testing.T) {
	w := newWorld(t)
	if err := os.RemoveAll(filepath.Join(w.Dir, "kiln")); err != nil {
		t.Fatal(err)
	}
	a := w.get("/lab/kiln/-/commits/main.go?L1")
	if a.status != http.StatusOK || !strings.Contains(a.body, "cannot be followed without the git repository") {
		t.Errorf("%d: %.2000s", a.status, a.body)
	}
	if a := w.get("/lab/kiln/-/blob/main.go?L1"); strings.Contains(a.body, "linehistory") {
		t.Error("a file leads to a history that there is not")
	}
}
