package browse_test

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var listedCommit = regexp.MustCompile(`<li><a href="[^"]*/-/commit/[^"]*">(.*?)</a>.*?</code></a>(?: as (?:<a href="([^"]*)">)?([^<]*)(?:</a>)?)?</li>`)

// listed are the subjects of the commits of a page, with the other name that the file had.
func listed(page string) (out []string) {
	for _, m := range listedCommit.FindAllStringSubmatch(page, -1) {
		s := html.UnescapeString(m[1])
		if m[3] != "" {
			s += " as " + html.UnescapeString(m[3])
		}
		out = append(out, s)
	}
	return out
}

// The history of a file goes on behind its renames, that of a folder does not.
func TestFileHistory(t *testing.T) {
	const attack = `a"><img src=x onerror=alert(1)>.txt`
	w := newWorld(t)
	repo := w.git("moving")
	content := strings.Repeat("clay and water\n", 20)
	commit := func(message string, files ...string) {
		w.Helper()
		for _, f := range files {
			repo.Write(f, content)
		}
		repo.Commit(message)
	}
	commit("Begin", "-c:*")
	content += "fire\n"
	commit("Fire", "-c:*")
	repo.Git("mv", "--", "-c:*", attack)
	content += "glaze\n"
	commit("To an attack", attack)
	w.Must(os.Mkdir(filepath.Join(repo.Dir, "dir"), 0o755))
	repo.Git("mv", "--", attack, "dir/new.txt")
	content += "kiln\n"
	commit("To a folder", "dir/new.txt")
	content += "brick\n"
	commit("Brick", "dir/new.txt")
	commit("Copy", "dir/copy.txt")
	content = "other\n"
	commit("Again", "-c:*")
	repo.Git("rm", "-q", "--", "-c:*")
	repo.Commit("Remove")
	w.AddSource("lab/moving=" + repo.Dir)
	w.Sync("lab/moving")
	const page = "/lab/moving/-/commits/"
	for path, want := range map[string][]string{
		"dir/new.txt":        {"Brick", "To a folder", "To an attack as " + attack, "Fire as -c:*", "Begin as -c:*"},
		"dir/new.txt?skip=2": {"To an attack as " + attack, "Fire as -c:*", "Begin as -c:*"},
		"dir/new.txt?skip=4": {"Begin as -c:*"},
		"dir/new.txt?skip=5": nil,
		"dir":                {"Copy", "Brick", "To a folder"},
		"dir/copy.txt":       {"Copy"}, // which is no rename
		"-c:*":               {"Remove", "Again", "To an attack", "Fire", "Begin"},
		"nothing":            nil,
	} {
		a := w.get(page + path)
		if got := listed(a.body); a.status != http.StatusOK || !slices.Equal(got, want) || len(want) == 0 != strings.Contains(a.body, "There are none.") {
			t.Errorf("%s: %d %q, want %q", path, a.status, got, want)
		}
		if strings.Contains(a.body, "<img") {
			t.Errorf("%s: the page has markup of strangers", path)
		}
	}
	links := listedCommit.FindAllStringSubmatch(w.get(page+"dir/new.txt").body, -1)
	for i, m := range links {
		if m[2] == "" && i < 2 {
			continue
		}
		if a := w.get(strings.TrimPrefix(html.UnescapeString(m[2]), "/under")); a.status != http.StatusOK || !strings.Contains(a.body, "clay and water") {
			t.Errorf("the link of %q to %q answers %d", m[1], m[2], a.status)
		}
	}
	if a := w.get("/lab/moving@HEAD~4/-/commits/dir/new.txt"); a.status != http.StatusOK || len(listed(a.body)) != 4 {
		t.Errorf("at an older commit: %d %q", a.status, listed(a.body))
	}
}

// Pages of a file that was renamed follow each other.
func TestFileHistoryPages(t *testing.T) {
	w := newWorld(t)
	repo := w.git("busy")
	name := ""
	for i := range 120 {
		if i%40 == 0 {
			next := fmt.Sprintf("a%d.txt", i/40)
			if name != "" {
				repo.Git("mv", name, next)
			}
			name = next
		}
		repo.Write(name, strings.Repeat("clay\n", 20)+fmt.Sprint(i))
		repo.Commit(fmt.Sprintf("No %d", i))
	}
	w.AddSource("lab/busy=" + repo.Dir)
	w.Sync("lab/busy")
	all := w.follow("/lab/busy/-/commits/a2.txt", listed)
	var want []string
	for i := 119; i >= 0; i-- {
		subject := fmt.Sprintf("No %d", i)
		if i < 80 {
			subject += fmt.Sprintf(" as a%d.txt", i/40)
		}
		want = append(want, subject)
	}
	if !slices.Equal(all, want) {
		t.Errorf("%d commits: %q", len(all), all)
	}
}

// What a branch renamed is followed behind the merge, and so is what a merge brings from
// a repository of its own.
func TestFileHistoryOfMerges(t *testing.T) {
	w := newWorld(t)
	repo := w.git("merged")
	content := strings.Repeat("clay and water\n", 20)
	repo.Write("main.txt", "main\n")
	repo.Commit("Main")
	repo.Git("checkout", "-q", "--orphan", "library")
	repo.Git("rm", "-q", "-r", "-f", ".")
	repo.Write("lib.txt", content)
	repo.Commit("Library")
	repo.Git("checkout", "-q", "main")
	repo.Git("merge", "-q", "--no-commit", "-s", "ours", "--allow-unrelated-histories", "library")
	repo.Git("read-tree", "--prefix=vendor/", "-u", "library")
	repo.Commit("Bring the library")
	w.AddSource("lab/merged=" + repo.Dir)
	w.Sync("lab/merged")
	if got, want := listed(w.get("/lab/merged/-/commits/vendor/lib.txt").body), []string{"Bring the library", "Library as lib.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A file that takes too long to be followed shows the commits of its present name.
func TestFileHistoryTooLong(t *testing.T) {
	w := newWorld(t, func(w *world) { w.blameWithin = time.Nanosecond })
	w.kiln.Git("mv", "main.go", "kiln.go")
	w.kiln.Commit("Rename")
	w.Sync("lab/kiln")
	a := w.get("/lab/kiln/-/commits/kiln.go")
	if a.status != http.StatusOK || !strings.Contains(a.body, "Git could not follow the file any further within 1ns.") || len(listed(a.body)) != 1 {
		t.Errorf("%d: %.3000s", a.status, a.body)
	}
	if a := w.get("/lab/kiln/-/commits/docs"); strings.Contains(a.body, "follow") {
		t.Error("a folder is followed")
	}
}
