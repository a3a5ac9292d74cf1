package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// readObject reads one object through a reader of its own.
func readObject(t testing.TB, repo *git.Repo, oid string) git.Object {
	t.Helper()
	r := repo.Objects()
	defer r.Close()
	o, err := r.Read(t.Context(), oid, 1<<30)
	if err != nil {
		t.Fatalf("Read(%s): %v", oid, err)
	}
	return o
}

func TestObjects(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			x := newFixture(t, "--object-format="+format)
			for _, p := range oddPaths {
				x.write(p, "text of "+p)
			}
			x.git("add", "-A")
			x.git("commit", "-q", "-m", "subject\n\nbody\nmore")
			first := x.git("rev-parse", "HEAD")
			x.git("tag", "-a", "-m", "note", "v1")
			x.write("plain.txt", "new")
			second := x.commit()
			repo := x.open()

			c, err := git.ParseCommit(readObject(t, repo, second))
			if err != nil || !slices.Equal(c.Parents, []string{first}) || c.Tree != x.git("rev-parse", "HEAD^{tree}") {
				t.Fatalf("ParseCommit = %+v, %v; want the parent %s", c, err, first)
			}
			if c, err = git.ParseCommit(readObject(t, repo, first)); err != nil {
				t.Fatal(err)
			}
			want := git.Signature{Person: git.Person{Name: "A", Email: "a@example.org"}, Mapped: git.Person{Name: "A", Email: "a@example.org"}, Seconds: 1700000000}
			if c.Message != "subject\n\nbody\nmore" || c.Author != want || c.Committer.Name != "C" || c.Parents != nil {
				t.Errorf("ParseCommit = %+v", c)
			}

			entries, err := git.ParseTree(readObject(t, repo, c.Tree))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				got = append(got, fmt.Sprintf("%t %s", e.Directory(), e.Name))
				if e.Directory() == (e.Name != "deep" && e.Name != "ünïcode") {
					t.Errorf("entry %+v", e)
				}
				if want := x.git("rev-parse", first+":"+e.Name); e.OID != want && !strings.ContainsAny(e.Name, "\n:") {
					t.Errorf("id of %q: got %s, want %s", e.Name, e.OID, want)
				}
			}
			if len(got) != len(oddPaths) { // deep/er and ünïcode each stand for one path
				t.Errorf("ParseTree: got %q", got)
			}

			objects := repo.Objects()
			defer objects.Close()
			for _, most := range []int{len(entries), 3, 1} {
				var each []git.Entry
				err := objects.EachEntry(t.Context(), c.Tree, 1<<20, func(e git.Entry) bool {
					each = append(each, e)
					return len(each) < most
				})
				if err != nil || !slices.Equal(each, entries[:most]) {
					t.Errorf("the first %d of EachEntry: got %v, %v; want %v", most, each, err, entries[:most])
				}
			}
		})
	}
}

func TestObjectErrors(t *testing.T) {
	x := newFixture(t)
	x.write("a", strings.Repeat("line\n", 1000))
	x.commit()
	blob := x.git("rev-parse", "HEAD:a")
	repo := x.open()
	r := repo.Objects()
	defer r.Close()
	if _, err := r.Read(t.Context(), strings.Repeat("ab", 20), 1); !errors.Is(err, git.ErrMissing) {
		t.Errorf("missing: got %v, want ErrMissing", err)
	}
	if o, err := r.Read(t.Context(), blob, 4999); !errors.Is(err, git.ErrTooLarge) || o.Size != 5000 || o.Kind != "blob" {
		t.Errorf("too large: got %+v, %v; want ErrTooLarge with the size", o, err)
	}
	// The reader still serves.
	if o, err := r.Read(t.Context(), blob, 5000); err != nil || len(o.Data) != 5000 {
		t.Errorf("after errors: got %d bytes, %v", len(o.Data), err)
	}
	for _, oid := range []string{"", "HEAD", blob + "\n", "--all"} {
		if _, err := r.Read(t.Context(), oid, 1); err == nil {
			t.Errorf("Read(%q): got nil, want an error", oid)
		}
	}
	if err := os.WriteFile(x.object(blob), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	fresh := repo.Objects()
	defer fresh.Close()
	if _, err := fresh.Read(t.Context(), blob, 1<<20); err == nil {
		t.Error("corrupt: got nil, want an error")
	}
	if _, err := git.ParseTree(git.Object{OID: blob, Kind: "tree", Data: []byte("100644 a\x00short")}); !errors.Is(err, git.ErrCorrupt) {
		t.Errorf("ParseTree of a short entry: got %v, want ErrCorrupt", err)
	}
	if _, err := git.ParseCommit(git.Object{OID: blob, Kind: "commit", Data: []byte("author x")}); !errors.Is(err, git.ErrCorrupt) {
		t.Errorf("ParseCommit without a tree: got %v, want ErrCorrupt", err)
	}
}

// A tree that ends within an entry is damage, and not waited for.
func TestEachEntryOfDamagedTree(t *testing.T) {
	x := newFixture(t)
	whole := x.git("mktree", "--missing")
	repo := x.open()
	r := repo.Objects()
	defer r.Close()
	all := func(git.Entry) bool { return true }
	for _, content := range []string{"100644 a", "100644 a\x00short", "100644 " + strings.Repeat("a", 100<<10), "x", "9 \x00" + strings.Repeat("i", 20)} {
		oid := x.gitInput(content, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
		if err := r.EachEntry(t.Context(), oid, 1<<20, all); !errors.Is(err, git.ErrCorrupt) {
			t.Errorf("%.20q: got %v, want ErrCorrupt", content, err)
		}
		if err := r.EachEntry(t.Context(), oid, 0, all); !errors.Is(err, git.ErrTooLarge) {
			t.Errorf("%.20q beyond the limit: got %v, want ErrTooLarge", content, err)
		}
	}
	if err := r.EachEntry(t.Context(), whole, 0, all); err != nil {
		t.Errorf("an empty tree behind them: %v", err)
	}
}

func TestEachRefName(t *testing.T) {
	x := newFixture(t)
	x.write("a", "b")
	x.commit()
	x.git("branch", "one")
	x.git("branch", "three/two")
	var got []string
	err := x.open().EachRefName(t.Context(), "refs/heads/", func(name string) error {
		got = append(got, name)
		return nil
	})
	want := []string{"refs/heads/main", "refs/heads/one", "refs/heads/three/two"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	enough := errors.New("enough")
	err = x.open().EachRefName(t.Context(), "refs/heads/", func(string) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want the error of the function", err)
	}
}

func FuzzParseObjects(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa40000 b\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("tree " + strings.Repeat("a", 40) + "\nauthor A <a> 1 +0000\n\nx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		oid := strings.Repeat("a", 40)
		_, _ = git.ParseTree(git.Object{OID: oid, Kind: "tree", Data: data})
		_, _ = git.ParseCommit(git.Object{OID: oid, Kind: "commit", Data: data})
	})
}

func TestEachRef(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1")
	first := x.commit()
	x.git("branch", "side/ä")
	x.git("tag", "light")
	x.git("tag", "-a", "-m", "note", "heavy")
	x.git("update-ref", "refs/notes/blob", x.git("rev-parse", "HEAD:a"))
	list := func(newest bool, prefixes ...string) string {
		t.Helper()
		var names []string
		err := x.open().EachRef(t.Context(), newest, prefixes, func(r git.Ref) error {
			if r.Commit != first && r.Name != "refs/notes/blob" {
				t.Errorf("ref %+v, want it to lead to %s", r, first)
			}
			names = append(names, strings.TrimPrefix(r.Name, "refs/")+" "+r.Kind)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, ", ")
	}
	tests := []struct {
		newest   bool
		prefixes []string
		want     string
	}{
		{false, nil, "heads/main commit, heads/side/ä commit, notes/blob blob, tags/heavy tag, tags/light commit"},
		{false, []string{"refs/tags/"}, "tags/heavy tag, tags/light commit"},
		{true, []string{"refs/heads/"}, "heads/main commit, heads/side/ä commit"},
		{false, []string{"refs/nothing/"}, ""},
	}
	for _, tt := range tests {
		if got := list(tt.newest, tt.prefixes...); got != tt.want {
			t.Errorf("EachRef(%t, %q) = %s, want %s", tt.newest, tt.prefixes, got, tt.want)
		}
	}
	x.write("a", "2")
	second := x.commit()
	for _, c := range []struct {
		commit string
		most   int
		want   string
	}{{first, 5, "refs/heads/side/ä refs/tags/heavy refs/tags/light"}, {first, 3, "refs/heads/side/ä refs/tags/heavy refs/tags/light"}, {first, 2, "refs/heads/side/ä refs/tags/heavy and more"}, {second, 5, "refs/heads/main"}, {strings.Repeat("a", 40), 5, ""}} {
		refs, more, err := x.open().RefsAt(t.Context(), c.commit, c.most)
		var names []string
		for _, r := range refs {
			names = append(names, r.Name)
		}
		if more {
			names = append(names, "and more")
		}
		if got := strings.Join(names, " "); got != c.want || err != nil && c.want != "" {
			t.Errorf("RefsAt(%s, %d) = %s, %v; want %s", c.commit, c.most, got, err, c.want)
		}
	}
	if _, _, err := x.open().RefsAt(t.Context(), "--all", 5); err == nil {
		t.Error("RefsAt of an option: got nil, want an error")
	}
	if err := x.open().EachRef(t.Context(), false, []string{"--all"}, nil); err == nil {
		t.Error("EachRef with an option for a prefix: got nil, want an error")
	}
}

// A rename is found whatever files are called, and a copy or a new file is none.
func TestRenamedFrom(t *testing.T) {
	x := newFixture(t)
	const odd = "-c:*\n\t\"\xff"
	text := strings.Repeat("clay\n", 20)
	x.write("a", text)
	first := x.commit()
	x.git("mv", "--", "a", odd)
	x.write(odd, text+"water\n")
	second := x.commit()
	for path, want := range map[string]string{odd: "a", "a": "", "*": "", "": ""} {
		if got, err := x.open().RenamedFrom(t.Context(), first, second, path); got != want || err != nil {
			t.Errorf("RenamedFrom(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	x.write("copy", text)
	third := x.commit()
	if got, err := x.open().RenamedFrom(t.Context(), second, third, "copy"); got != "" || err != nil {
		t.Errorf("a copy was renamed from %q, %v", got, err)
	}
	for _, rev := range []string{"HEAD", "--output=/tmp/x", ""} {
		_, err := x.open().RenamedFrom(t.Context(), rev, second, odd)
		oneLine(t, err)
	}
}

func TestHistory(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1\n2\n3\n")
	x.git("add", "-A")
	x.git("commit", "-q", "-m", "One (1)")
	x.git("mv", "a", "b")
	x.git("commit", "-q", "-m", "two")
	x.write("-c:*", "x")
	x.git("add", "-A")
	x.git("commit", "-q", "-m", "three")
	names := map[string]string{x.git("rev-parse", "HEAD"): "three", x.git("rev-parse", "HEAD~"): "two", x.git("rev-parse", "HEAD~2"): "one"}
	tests := []struct {
		revs []string
		o    git.HistoryOptions
		want string
	}{
		{[]string{"HEAD"}, git.HistoryOptions{}, "three two one"},
		{[]string{"HEAD"}, git.HistoryOptions{Max: 1}, "three"},
		{[]string{"HEAD"}, git.HistoryOptions{Skip: 1, Max: 1}, "two"},
		{[]string{"HEAD"}, git.HistoryOptions{Path: "b"}, "two"},
		{[]string{"HEAD"}, git.HistoryOptions{Path: "b", Follow: true}, "two one"},
		{[]string{"HEAD"}, git.HistoryOptions{Path: "-c:*"}, "three"},
		{[]string{"HEAD"}, git.HistoryOptions{Path: "*"}, ""},
		{[]string{"HEAD"}, git.HistoryOptions{Message: "one (1"}, "one"},
		{[]string{"HEAD", "^HEAD~"}, git.HistoryOptions{}, "three"},
		{[]string{"HEAD"}, git.HistoryOptions{After: "2099-01-01"}, ""},
		{[]string{"HEAD"}, git.HistoryOptions{Before: "2001-01-01"}, ""},
	}
	for _, tt := range tests {
		var got []string
		err := x.open().History(t.Context(), tt.revs, tt.o, func(oid string) error {
			got = append(got, names[oid])
			return nil
		})
		if g := strings.Join(got, " "); g != tt.want || err != nil {
			t.Errorf("History(%v, %+v) = %q, %v; want %q", tt.revs, tt.o, g, err, tt.want)
		}
	}
	for _, rev := range []string{"--output=/tmp/x", "^--all", "", "a..b"} {
		oneLine(t, x.open().History(t.Context(), []string{rev}, git.HistoryOptions{}, nil))
	}
	if behind, ahead, err := x.open().BehindAhead(t.Context(), "HEAD~2", "HEAD"); behind != 0 || ahead != 2 || err != nil {
		t.Errorf("BehindAhead = %d, %d, %v; want 0, 2", behind, ahead, err)
	}
	if base, err := x.open().MergeBase(t.Context(), "HEAD~2", "HEAD"); names[base] != "one" || err != nil {
		t.Errorf("MergeBase = %s, %v", base, err)
	}
	x.git("checkout", "-q", "--orphan", "other")
	x.git("commit", "-q", "-m", "alone")
	if _, err := x.open().MergeBase(t.Context(), "main", "other"); !errors.Is(err, git.ErrNoRevision) {
		t.Errorf("MergeBase without any: got %v, want ErrNoRevision", err)
	}
	people, err := x.open().Contributors(t.Context(), "main", git.HistoryOptions{Path: "b"})
	if want := (git.Contributor{Person: git.Person{Name: "A", Email: "a@example.org"}, Commits: 1}); err != nil || len(people) != 1 || people[0] != want {
		t.Errorf("Contributors = %+v, %v; want %+v", people, err, want)
	}
}

func TestCompare(t *testing.T) {
	x := newFixture(t)
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i)
	}
	x.write("edited", strings.Join(lines, "\n"))
	x.write("from", strings.Repeat("same\n", 50))
	x.write("gone", "x\n")
	x.write("binary", "\x00\x01")
	before := x.commit()
	lines[10] = "changed"
	x.write("edited", strings.Join(lines, "\n"))
	x.git("mv", "from", "to")
	x.git("rm", "-q", "gone")
	x.write("binary", "\x00\x02")
	after := x.commit()
	var got strings.Builder
	err := x.open().Compare(t.Context(), before, after, nil, git.LogOptions{Depth: git.LogHunks}, func(d git.FileDiff) error {
		fmt.Fprintf(&got, "%c %s %s %d\n%s", d.Status, d.OldPath, d.Path, d.State, d.Hunks)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "M  binary 1\nM  edited 0\n@@ -8,7 +8,7 @@ line 6\n line 7\n line 8\n line 9\n-line 10\n+changed\n line 11\n line 12\n line 13\n" +
		"D  gone 0\n@@ -1 +0,0 @@\n-x\nR from to 0\n"
	if got.String() != want {
		t.Errorf("Compare\n got %q\nwant %q", got.String(), want)
	}
	n := 0
	err = x.open().Compare(t.Context(), before, after, []string{"edited", "*"}, git.LogOptions{}, func(git.FileDiff) error {
		n++
		return nil
	})
	if n != 1 || err != nil {
		t.Errorf("Compare of one path: %d files, %v", n, err)
	}
}

func TestBlame(t *testing.T) {
	x := newFixture(t)
	odd := "ta\tb \"é.txt"
	x.write(odd, "1\n2\n3\n")
	x.git("add", "-A")
	x.git("commit", "-q", "-m", "first")
	first := x.git("rev-parse", "HEAD")
	x.write(odd, "1\ntwo\n  3\n")
	second := x.commit()
	show := func(from, to int, space bool) string {
		hunks, err := x.open().Blame(t.Context(), second, odd, from, to, space, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, h := range hunks {
			out = append(out, fmt.Sprintf("%d+%d %t", h.StartLine, h.Lines, h.Commit == first))
			if h.Path != odd || h.Author.Seconds != 1700000000 || h.Author.Email != "a@example.org" || h.Commit == first && h.Subject != "first" {
				t.Errorf("hunk %+v", h)
			}
			if h.OldLine != h.StartLine || h.Commit == first && h.Parent != "" || h.Commit == second && (h.Parent != first || h.ParentPath != odd) {
				t.Errorf("the parent of hunk %+v is not %s", h, first)
			}
		}
		return strings.Join(out, ", ")
	}
	for _, tt := range []struct {
		from, to int
		space    bool
		want     string
	}{
		{1, 3, false, "1+1 true, 2+2 false"},
		{1, 3, true, "1+1 true, 2+1 false, 3+1 true"},
		{2, 2, false, "2+1 false"},
	} {
		if got := show(tt.from, tt.to, tt.space); got != tt.want {
			t.Errorf("Blame(%d, %d, %t) = %s, want %s", tt.from, tt.to, tt.space, got, tt.want)
		}
	}
	oneLine(t, func() error { _, err := x.open().Blame(t.Context(), second, "nothing", 1, 1, false, nil); return err }())
	held, enough := 0, errors.New("enough")
	_, err := x.open().Blame(t.Context(), second, odd, 1, 3, true, func(git.BlameHunk) error {
		if held++; held == 2 {
			return enough
		}
		return nil
	})
	if held != 2 || err != enough {
		t.Errorf("Blame that is told to keep one hunk: asked %d times, %v", held, err)
	}
}

// What the configuration and the attributes of a repository name is not run by
// these commands either.
func TestReadingRunsNothing(t *testing.T) {
	x := newFixture(t)
	x.write("a", "1\n")
	first := x.commit()
	x.write("a", "2\n")
	second := x.commit()
	mark := filepath.Join(t.TempDir(), "mark")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n: >"+mark+"\ncat \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "diff.external", "diff.evil.command", "diff.evil.textconv",
		"gpg.program", "alias.log", "alias.blame", "pager.blame", "pager.log"} {
		x.git("config", key, script)
	}
	x.git("config", "log.showSignature", "true")
	if err := os.MkdirAll(filepath.Join(x.dir, ".git", "info"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.dir, ".git", "info", "attributes"), []byte("* diff=evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	repo := x.open()
	if _, err := repo.Blame(t.Context(), second, "a", 1, 1, false, nil); err != nil {
		t.Error(err)
	}
	if err := repo.Compare(t.Context(), first, second, nil, git.LogOptions{Depth: git.LogHunks}, func(git.FileDiff) error { return nil }); err != nil {
		t.Error(err)
	}
	for _, follow := range []bool{false, true} {
		if err := repo.History(t.Context(), []string{"HEAD"}, git.HistoryOptions{Path: "a", Follow: follow}, func(string) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	if _, err := repo.Contributors(t.Context(), "HEAD", git.HistoryOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program named by the repository's configuration was run")
	}
}
