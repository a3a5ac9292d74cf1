package git_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// lineHistory lists the commits that changed lines by their position in a list, with their
// files.
func lineHistory(t *testing.T, repo *git.Repo, commits []string, path string, lines git.LineRange, h git.HistoryOptions, o git.LogOptions) (out []string, err error) {
	t.Helper()
	err = repo.LineHistory(t.Context(), commits[len(commits)-1], path, lines, h, o, func(c git.LineChange) error {
		s := fmt.Sprint(slices.Index(commits, c.Commit))
		for _, f := range c.Files {
			s += fmt.Sprintf(" %c %q %q %d %q", f.Status, f.OldPath, f.Path, f.State, f.Hunks)
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line %d", i+1)
	}
	return out
}

func TestLineHistory(t *testing.T) {
	x := newFixture(t)
	var commits []string
	lines := numbered(20)
	commit := func(path string) {
		x.write(path, strings.Join(lines, "\n")+"\n")
		commits = append(commits, x.commit())
	}
	commit("a b.txt")
	lines[9] = "-- ten"
	commit("a b.txt")
	lines[0] = "far away"
	commit("a b.txt")
	x.git("mv", "--", "a b.txt", "-c:d.txt")
	lines[10] = "++ eleven"
	commit("-c:d.txt")
	lines = append([]string{"new"}, lines...)
	commit("-c:d.txt")
	// What the repository says about git log does not count.
	for _, setting := range []string{"log.showSignature=true", "diff.noprefix=true", "diff.mnemonicPrefix=true", "color.ui=always", "log.date=relative", "diff.renames=false", "log.follow=true", "format.pretty=full", "diff.external=false"} {
		name, value, _ := strings.Cut(setting, "=")
		x.git("config", name, value)
	}
	want := []string{
		`3 R "a b.txt" "-c:d.txt" 0 "@@ -10,2 +10,2 @@\n -- ten\n-line 11\n+++ eleven\n"`,
		`1 M "" "a b.txt" 0 "@@ -10,2 +10,2 @@\n-line 10\n+-- ten\n line 11\n"`,
		`0 A "" "a b.txt" 0 "@@ -0,0 +10,2 @@\n+line 10\n+line 11\n"`,
	}
	repo := x.open()
	for _, c := range []struct {
		h    git.HistoryOptions
		want []string
	}{
		{git.HistoryOptions{}, want}, {git.HistoryOptions{Max: 2}, want[:2]}, {git.HistoryOptions{Skip: 1}, want[1:]}, {git.HistoryOptions{Skip: 1, Max: 1}, want[1:2]}, {git.HistoryOptions{Skip: 9}, nil},
	} {
		got, err := lineHistory(t, repo, commits, "-c:d.txt", git.LineRange{First: 11, Last: 12}, c.h, git.LogOptions{})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v %q, want %q", c.h, err, got, c.want)
		}
	}
	got, err := lineHistory(t, repo, commits, "-c:d.txt", git.LineRange{First: 11, Last: 12}, git.HistoryOptions{}, git.LogOptions{MaxFileBytes: 40})
	if err != nil || len(got) != 3 || !strings.HasSuffix(got[0], `2 ""`) {
		t.Errorf("with hunks of 40 bytes: %v %q", err, got)
	}
	// An end behind that of the file is its end; a beginning there is an error.
	if got, err := lineHistory(t, repo, commits, "-c:d.txt", git.LineRange{First: 21, Last: 99_999_999}, git.HistoryOptions{Max: 1}, git.LogOptions{}); err != nil || len(got) != 1 {
		t.Errorf("to line 99,999,999: %v %q", err, got)
	}
	for name, ask := range map[string]func() error{
		"behind the end": func() error {
			_, err := lineHistory(t, repo, commits, "-c:d.txt", git.LineRange{First: 22, Last: 30}, git.HistoryOptions{}, git.LogOptions{})
			return err
		},
		"line 0": func() error {
			_, err := lineHistory(t, repo, commits, "-c:d.txt", git.LineRange{}, git.HistoryOptions{}, git.LogOptions{})
			return err
		},
		"no such file": func() error {
			_, err := lineHistory(t, repo, commits, "nothing", git.LineRange{First: 1, Last: 1}, git.HistoryOptions{}, git.LogOptions{})
			return err
		},
		"no commit": func() error {
			return repo.LineHistory(t.Context(), strings.Repeat("1", 40), "-c:d.txt", git.LineRange{First: 1, Last: 1}, git.HistoryOptions{}, git.LogOptions{}, nil)
		},
		"an option": func() error {
			return repo.LineHistory(t.Context(), "--output=/tmp/x", "-c:d.txt", git.LineRange{First: 1, Last: 1}, git.HistoryOptions{}, git.LogOptions{}, nil)
		},
		"a name of no path": func() error {
			_, err := lineHistory(t, repo, commits, "../../x", git.LineRange{First: 1, Last: 1}, git.HistoryOptions{}, git.LogOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { oneLine(t, ask()) })
	}
	// The caller ends the listing, and a client that left does.
	enough := errors.New("enough")
	if err := repo.LineHistory(t.Context(), commits[4], "-c:d.txt", git.LineRange{First: 11, Last: 12}, git.HistoryOptions{}, git.LogOptions{}, func(git.LineChange) error { return enough }); err != enough {
		t.Errorf("got %v, want the caller's error", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := repo.LineHistory(gone, commits[4], "-c:d.txt", git.LineRange{First: 11, Last: 12}, git.HistoryOptions{}, git.LogOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the client left", err)
	}
}

// Names and lines that look like what git writes are names and lines.
func TestLineHistoryOfStrangers(t *testing.T) {
	x := newFixture(t)
	const name = "\"q\"\té :1"
	text := []string{"diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1,9 +1,9 @@", "\x01" + strings.Repeat("1", 40), "\\ No newline", "Binary files a/x and b/x differ", ""}
	x.write(name, strings.Join(text, "\n"))
	commits := []string{x.commit()}
	x.write(name, "first\r\n"+strings.Join(text, "\n")+"no newline")
	commits = append(commits, x.commit())
	got, err := lineHistory(t, x.open(), commits, name, git.LineRange{First: 1, Last: 9}, git.HistoryOptions{}, git.LogOptions{})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v %q", err, got)
	}
	for i, c := range got {
		for _, line := range text[:7] {
			if !strings.Contains(c, strings.Trim(fmt.Sprintf("%q", line), `"`)) {
				t.Errorf("commit %d lacks %q: %s", i, line, c)
			}
		}
		if !strings.Contains(c, fmt.Sprintf("%q", name)) {
			t.Errorf("commit %d is not of %q: %s", i, name, c)
		}
	}
	if !strings.Contains(got[0], `+first\r\n`) || !strings.Contains(got[0], `+no newline\n`) {
		t.Errorf("got %s", got[0])
	}
	// A name with line breaks does no harm.
	const broken = "a\n@@ -1,9 +1,9 @@\n\x01\nb"
	x.write(broken, "one\n")
	commits = append(commits, x.commit())
	if got, err := lineHistory(t, x.open(), commits, broken, git.LineRange{First: 1, Last: 1}, git.HistoryOptions{}, git.LogOptions{}); err == nil && len(got) != 1 {
		t.Errorf("of a name with line breaks: %q", got)
	}
}

// The lines of a merge, of which both parents differ, are those of a commit without a diff.
func TestLineHistoryOfMerge(t *testing.T) {
	x := newFixture(t)
	lines := numbered(9)
	write := func() { x.write("a.txt", strings.Join(lines, "\n")+"\n") }
	write()
	commits := []string{x.commit()}
	x.git("checkout", "-q", "-b", "side")
	lines[3] = "side"
	write()
	commits = append(commits, x.commit())
	x.git("checkout", "-q", "main")
	lines[3], lines[5] = "line 4", "main"
	write()
	commits = append(commits, x.commit())
	x.git("merge", "-q", "--no-commit", "-s", "ours", "side")
	lines[3], lines[4] = "side", "merged"
	write()
	commits = append(commits, x.commit())
	got, err := lineHistory(t, x.open(), commits, "a.txt", git.LineRange{First: 3, Last: 7}, git.HistoryOptions{}, git.LogOptions{})
	if err != nil || len(got) != 4 || got[0] != "3" || !strings.HasPrefix(got[3], `0 A "" "a.txt"`) {
		t.Errorf("%v %q", err, got)
	}
}
