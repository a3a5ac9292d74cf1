package git_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// readLog returns the log of HEAD, newest first, with the hunks copied. It holds
// LogFrom against it.
func readLog(t testing.TB, repo *git.Repo, o git.LogOptions) []git.Commit {
	t.Helper()
	var oids []string
	err := repo.RevList(t.Context(), []string{"HEAD"}, nil, func(l git.Listed) error {
		oids = append(oids, l.OID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out := readCommits(t, repo, oids, o)
	if o.Depth == git.LogMessages {
		return out
	}
	for _, most := range []int{len(oids) + 1, len(oids) - 1} {
		var from []git.Commit
		err := repo.LogFrom(t.Context(), oids[0], most, o, func(c *git.Commit) error {
			from = append(from, cloned(c))
			return nil
		})
		if want := out[:min(most, len(out))]; err != nil || len(from) != len(want) || len(want) > 0 && !reflect.DeepEqual(from, want) {
			t.Errorf("LogFrom %d of %d commits: %v\n got %.2000q\nwant %.2000q", most, len(oids), err, fmt.Sprint(from), fmt.Sprint(want))
		}
	}
	return out
}

// cloned returns a commit that may be kept.
func cloned(c *git.Commit) git.Commit {
	for i := range c.Files {
		c.Files[i].Hunks = slices.Clone(c.Files[i].Hunks)
	}
	return *c
}

func readCommits(t testing.TB, repo *git.Repo, oids []string, o git.LogOptions) []git.Commit {
	t.Helper()
	var out []git.Commit
	err := repo.Log(t.Context(), oids, o, func(c *git.Commit) error {
		out = append(out, cloned(c))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// show prints what a commit changed.
func show(c git.Commit) string {
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintf(&b, "%c %o %o %q %q %d\n%s", f.Status, f.OldMode, f.NewMode, f.OldPath, f.Path, f.State, f.Hunks)
	}
	return b.String()
}

func TestLogShowsChanges(t *testing.T) {
	x := newFixture(t)
	odd := "sp ace\"q\n@@ -1 +1 @@\ttab"
	x.write("f", "a\nb\nc\n")
	x.write(odd, "one\ntwo\nthree\nfour\nfive\nsix")
	x.write(".gitattributes", "* -diff\n")
	x.commit()
	x.write("f", "a\nB\nc\n")
	x.git("mv", odd, "other")
	x.git("config", "diff.suppressBlankEmpty", "true")
	x.git("config", "diff.noprefix", "true")
	x.git("config", "color.ui", "always")
	x.commit()
	x.git("mv", "other", "moved\xff")
	x.write("moved\xff", "one\ntwo\nTHREE\nfour\nfive\nsix")
	x.write("bin", "\x00\x01")
	x.write("late", strings.Repeat("x\n", 9000)+"nul \x00 here\ndiff --git a/x b/x\n@@ -1 +1 @@\n\x01")
	x.commit()
	x.git("rm", "-q", "f", "late")
	x.git("update-index", "--add", "--cacheinfo", "120000,"+x.gitInput("bin", "hash-object", "-w", "--stdin")+",f")
	x.git("update-index", "--chmod=+x", "moved\xff")
	x.git("update-index", "--add", "--cacheinfo", "160000,"+x.git("rev-parse", "HEAD")+",sub")
	x.git("commit", "-q", "-m", "kinds")
	x.git("rm", "-q", "-f", "--cached", "f")
	x.git("commit", "-q", "-m", "removed")
	x.git("commit", "-q", "--allow-empty", "-m", "nothing")

	log := readLog(t, x.open(), git.LogOptions{Depth: git.LogHunks})
	kinds := x.git("rev-parse", "HEAD~3")
	if got := show(log[0]); got != "" {
		t.Errorf("an empty commit changes %q", got)
	}
	if got, want := show(log[1]), "D 120000 0 \"\" \"f\" 0\n@@ -1 +0,0 @@\n-bin\n"; got != want {
		t.Errorf("removal\n got %q\nwant %q", got, want)
	}
	got := show(log[2])
	for _, part := range []string{
		"T 100644 120000 \"\" \"f\" 0\n@@ -1,3 +0,0 @@\n-a\n-B\n-c\n@@ -0,0 +1 @@\n+bin\n",
		"D 100644 0 \"\" \"late\" 0\n@@ -1,9004 +0,0 @@\n-x\n",
		"-nul \x00 here\n-diff --git a/x b/x\n-@@ -1 +1 @@\n-\x01\n",
		"M 100644 100755 \"\" \"moved\\xff\" 0\n",
		"A 0 160000 \"\" \"sub\" 0\n@@ -0,0 +1 @@\n+Subproject commit " + kinds + "\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("kinds of files\n got %.2000q\nwant %q in it", got, part)
		}
	}
	got = show(log[3])
	for _, part := range []string{
		"A 0 100644 \"\" \"bin\" 1\n",
		"R 100644 100644 \"other\" \"moved\\xff\" 0\n@@ -2,3 +2,3 @@ one\n two\n-three\n+THREE\n four\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("binary and rename\n got %q\nwant %q in it", got, part)
		}
	}
	renamed := fmt.Sprintf("M 100644 100644 \"\" \"f\" 0\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\nR 100644 100644 %q \"other\" 0\n", odd)
	if got := show(log[4]); got != renamed {
		t.Errorf("odd path\n got %q\nwant %q", got, renamed)
	}
	root := "A 0 100644 \"\" \".gitattributes\" 0\n@@ -0,0 +1 @@\n+* -diff\nA 0 100644 \"\" \"f\" 0\n@@ -0,0 +1,3 @@\n+a\n+b\n+c\n" +
		fmt.Sprintf("A 0 100644 \"\" %q 0\n@@ -0,0 +1,6 @@\n+one\n+two\n+three\n+four\n+five\n+six\n", odd)
	if got := show(log[5]); got != root {
		t.Errorf("first commit\n got %q\nwant %q", got, root)
	}
	for _, c := range readLog(t, x.open(), git.LogOptions{}) {
		for _, f := range c.Files {
			if f.State != git.DiffUnread || len(f.Hunks) > 0 {
				t.Errorf("without hunks %q is in state %d with %q", f.Path, f.State, f.Hunks)
			}
		}
	}
}

func TestLogOfMessages(t *testing.T) {
	x := newFixture(t)
	x.write("a", "a\n")
	first := x.commit()
	x.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	second := x.git("rev-parse", "HEAD")
	third := x.commit()
	for _, order := range [][]string{{third, second, first}, {second}, {first, third, second}} {
		log := readCommits(t, x.open(), order, git.LogOptions{Depth: git.LogMessages})
		for i, oid := range order {
			want := "change"
			if oid == second {
				want = ""
			}
			if len(log) != len(order) || log[i].OID != oid || log[i].Message != want || len(log[i].Files) != 0 {
				t.Errorf("log of %q = %+v", order, log)
			}
		}
	}
}

func TestMailmap(t *testing.T) {
	x := newFixture(t)
	repo := x.open()
	bare := x.commit()
	if oid, err := repo.Mailmap(bare).OID(t.Context()); oid != "" || err != nil {
		t.Errorf("Mailmap without one = %q, %v", oid, err)
	}
	x.write(".mailmap", "Proper Name <proper@example.org> <odd@example.org>\nOnly Name <name@example.org>\n")
	tip := x.commit()
	oid, err := repo.Mailmap(tip).OID(t.Context())
	if want := x.git("rev-parse", "HEAD:.mailmap"); oid != want || err != nil {
		t.Errorf("Mailmap = %q, %v; want %q", oid, err, want)
	}
	people := []git.Person{
		{Name: "x", Email: "odd@example.org"}, {Name: "", Email: "odd@example.org"}, {Name: "n", Email: "NAME@example.org"},
		{Name: "no mail", Email: ""}, {Name: "", Email: ""}, {Name: "a\"b\\ <c", Email: "d>\ne"}, {Name: "other", Email: "o"},
	}
	want := slices.Clone(people)
	want[0] = git.Person{Name: "Proper Name", Email: "proper@example.org"}
	want[1] = want[0]
	want[2] = git.Person{Name: "Only Name", Email: "NAME@example.org"}
	got, err := repo.Mailmap(tip).Map(t.Context(), people)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Mailmap.Map\n got %q, %v\nwant %q", got, err, want)
	}
}

func TestLogOfMerges(t *testing.T) {
	x := newFixture(t)
	x.write("a", "a\n")
	x.commit()
	x.git("checkout", "-q", "-b", "one")
	x.write("b", "b\n")
	x.commit()
	x.git("checkout", "-q", "-b", "two", "main")
	x.write("c", "c\n")
	x.commit()
	x.git("checkout", "-q", "main")
	x.git("merge", "-q", "--no-ff", "-m", "octopus", "one", "two")
	log := readLog(t, x.open(), git.LogOptions{Depth: git.LogHunks})
	if c := log[0]; !c.Merge() || len(c.Parents) != 3 || len(c.Files) != 0 || c.Message != "octopus" {
		t.Errorf("merge = %+v, want three parents, no files", c)
	}
	if len(log) != 4 {
		t.Errorf("%d commits, want 4", len(log))
	}
}

func TestLogLimits(t *testing.T) {
	x := newFixture(t)
	for i := range 5 {
		x.write(fmt.Sprintf("f%d", i), strings.Repeat("line\n", 100))
	}
	x.write("f2", strings.Repeat("z", 200_000)+"\n")
	x.commit()
	log := readLog(t, x.open(), git.LogOptions{Depth: git.LogHunks, MaxFileBytes: 1000, MaxCommitBytes: 1500, MaxFiles: 4})
	var states []git.DiffState
	for _, f := range log[0].Files {
		states = append(states, f.State)
		if (f.State == git.DiffRead) != (len(f.Hunks) > 0) {
			t.Errorf("%s is in state %d with %d bytes", f.Path, f.State, len(f.Hunks))
		}
	}
	want := []git.DiffState{git.DiffRead, git.DiffRead, git.DiffTooLarge, git.DiffTooLarge}
	if !slices.Equal(states, want) || log[0].MoreFiles != 1 {
		t.Errorf("states %v and %d more, want %v and 1", states, log[0].MoreFiles, want)
	}
}

// hostile writes a commit object as it is and returns its id.
func (x *fixture) hostile(commit string) string {
	return x.gitInput(commit, "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
}

func TestLogOfHostileCommits(t *testing.T) {
	x := newFixture(t)
	x.write(".mailmap", "Proper Name <proper@example.org> <odd@example.org>\n")
	tip := x.commit()
	tree := x.git("rev-parse", "HEAD^{tree}")
	const who = "A <odd@example.org> 1700000000 +0000"
	const proper = "Proper Name/proper@example.org"
	tests := []struct {
		name, people, message string
		author                string // name/email of the mapped author, seconds, zone
		want                  string // the message
	}{
		// dates
		{"before 1970", "A <odd@example.org> -5 +0000", "m", proper + " 0 0", "m"},
		{"beyond 2100", "A <odd@example.org> 4200000000 +0530", "m", proper + " 4200000000 330", "m"},
		{"beyond all years", "A <odd@example.org> 999999999999 -0800", "m", proper + " 0 -480", "m"},
		{"a zone of days", "A <odd@example.org> 1700000000 +9959", "m", proper + " 1700000000 0", "m"},
		{"no date", "A <odd@example.org>", "m", proper + " 0 0", "m"},
		// people
		{"no name", "<odd@example.org> 1700000000 +0000", "m", proper + " 1700000000 0", "m"},
		{"Latin-1 name", "J\xfcrgen M\xfcller <j@example.org> 1700000000 +0000", "m", "Jürgen Müller/j@example.org 1700000000 0", "m"},
		// messages
		{"empty", who, "", proper + " 1700000000 0", ""},
		{"white space", who, "\n\n  \n", proper + " 1700000000 0", ""},
		{"NUL ends it", who, "before\x00after", proper + " 1700000000 0", "before"},
		{"mark and raw record", who, "\x01" + strings.Repeat("a", 40) + "\n\n:100644 100644", proper + " 1700000000 0", "\x01" + strings.Repeat("a", 40) + "\n\n:100644 100644"},
		{"CR", who, "one\r\ntwo\r\n", proper + " 1700000000 0", "one\r\ntwo"},
		{"invalid UTF-8", who, "gr\xfc\xdfe", proper + " 1700000000 0", "grüße"},
		{"huge", who, strings.Repeat("word ", 2<<20), proper + " 1700000000 0", strings.TrimSpace(strings.Repeat("word ", git.MaxMessageBytes/5+1)[:git.MaxMessageBytes])},
	}
	var oids []string
	for _, test := range tests {
		oids = append(oids, x.hostile("tree "+tree+"\nauthor "+test.people+"\ncommitter "+who+"\n\n"+test.message))
	}
	log := readCommits(t, x.open(), oids, git.LogOptions{Depth: git.LogHunks, Mailmap: tip})
	for i, test := range tests {
		c := log[i]
		author := fmt.Sprintf("%s/%s %d %d", c.Author.Mapped.Name, c.Author.Mapped.Email, c.Author.Seconds, c.Author.ZoneMinutes)
		if author != test.author {
			t.Errorf("%s: author %q, want %q", test.name, author, test.author)
		}
		if c.Message != test.want {
			t.Errorf("%s: message %.80q, want %.80q", test.name, c.Message, test.want)
		}
		if len(c.Files) != 1 || c.Files[0].Path != ".mailmap" {
			t.Errorf("%s: files %v, want .mailmap", test.name, c.Files)
		}
	}
	// A declared encoding is decoded by git, one that it does not know is guessed.
	for declared, message := range map[string]string{"ISO-8859-15": "\xa4 10", "KOI8-R": "\xf7\xc1\xd3\xd1", "no-such": "plain"} {
		oid := x.hostile("tree " + tree + "\nauthor " + who + "\ncommitter " + who + "\nencoding " + declared + "\n\n" + message)
		got := readCommits(t, x.open(), []string{oid}, git.LogOptions{})[0].Message
		want := map[string]string{"ISO-8859-15": "€ 10", "KOI8-R": "Вася", "no-such": "plain"}[declared]
		if got != want {
			t.Errorf("message in %s = %q, want %q", declared, got, want)
		}
	}
}

func TestLogIgnoresReplacements(t *testing.T) {
	x := newFixture(t)
	x.write("a", "one\n")
	first := x.commit()
	x.write("a", "two\n")
	second := x.commit()
	x.git("replace", "--graft", second)
	log := readLog(t, x.open(), git.LogOptions{Depth: git.LogHunks})
	if len(log) != 2 || log[0].OID != second || !slices.Equal(log[0].Parents, []string{first}) {
		t.Errorf("log = %+v, want %s on %s", log, second, first)
	}
}

func TestRevList(t *testing.T) {
	x := newFixture(t)
	first := x.commit()
	second := x.commit()
	x.git("checkout", "-q", "-b", "side", first)
	x.write("a", "a")
	side := x.commit()
	repo := x.open()
	list := func(from, not []string) string {
		var out []string
		if err := repo.RevList(t.Context(), from, not, func(l git.Listed) error {
			if l.Seconds != 1700000000 {
				t.Errorf("%s is of %d", l.OID, l.Seconds)
			}
			out = append(out, map[string]string{first: "first", second: "second", side: "side"}[l.OID])
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, " ")
	}
	for _, test := range []struct {
		from, not []string
		want      string
	}{
		{[]string{second}, nil, "second first"},
		{[]string{"main", side}, []string{first}, "second side"},
		{[]string{first}, []string{"side"}, ""},
	} {
		if got := list(test.from, test.not); got != test.want {
			t.Errorf("RevList(%q, %q) = %q, want %q", test.from, test.not, got, test.want)
		}
	}
	for _, rev := range []string{"--all", "a..b", ""} {
		if err := repo.RevList(t.Context(), []string{rev}, nil, nil); !errors.Is(err, git.ErrNoRevision) {
			t.Errorf("RevList(%q) = %v, want ErrNoRevision", rev, err)
		}
	}
	for _, test := range []struct {
		older, newer string
		want         bool
	}{{first, second, true}, {second, first, false}, {side, second, false}, {strings.Repeat("1", 40), second, false}} {
		got, err := repo.IsAncestor(t.Context(), test.older, test.newer)
		if err != nil || got != test.want {
			t.Errorf("IsAncestor(%s, %s) = %t, %v; want %t", test.older, test.newer, got, err, test.want)
		}
	}
}

func TestLogEnds(t *testing.T) {
	x := newFixture(t)
	oid := x.commit()
	repo := x.open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := repo.Log(ctx, []string{oid}, git.LogOptions{}, func(*git.Commit) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled log = %v", err)
	}
	enough := errors.New("enough")
	if err := repo.Log(t.Context(), []string{oid}, git.LogOptions{}, func(*git.Commit) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("log = %v, want the callback's error", err)
	}
	if err := repo.Log(t.Context(), []string{"HEAD"}, git.LogOptions{}, nil); err == nil {
		t.Error("a log of HEAD, which is no id, was read")
	}
	if err := repo.Log(t.Context(), []string{strings.Repeat("1", 40)}, git.LogOptions{}, func(*git.Commit) error { return nil }); err == nil {
		t.Error("a log of a commit that is not there was read")
	}
}
