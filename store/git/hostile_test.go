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

// canary returns a command that leaves a file behind, and a function that fails
// the test if it was run.
func canary(t *testing.T) (command string, check func(doing string)) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "ran")
	script := filepath.Join(dir, "canary")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n: >"+path+"\nwhile IFS= read -r line; do echo \"$line\"; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return script, func(doing string) {
		t.Helper()
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s ran a program of the repository's", doing)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// boobyTrap has a repository name a program wherever git knows a place for one.
func (x *fixture) boobyTrap(program string) {
	x.t.Helper()
	for _, setting := range []string{
		"core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.askPass", "core.pager", "core.editor", "core.alternateRefsCommand",
		"diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "filter.evil.clean", "filter.evil.process",
		"merge.evil.driver", "gpg.program", "gpg.ssh.program", "credential.helper", "sequence.editor", "web.browser", "browser.evil.cmd",
		"uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.vcs", "pager.log", "pager.blame", "pager.diff-tree",
		"alias.cat-file", "gc.recentObjectsHook", "trailer.evil.cmd", "interactive.diffFilter", "difftool.evil.cmd",
	} {
		x.git("config", setting, program)
	}
	x.git("config", "diff.evil.binary", "false")
	x.git("config", "log.showSignature", "true")
	x.git("config", "url.ext::"+program+" .insteadOf", "file://")
	x.git("config", "protocol.ext.allow", "always")
	x.git("config", "include.path", filepath.Join(x.dir, "more"))
	x.write("more", "[core]\n\tpager = "+program+"\n\thooksPath = "+filepath.Dir(program)+"\n")
	for _, hook := range []string{"post-checkout", "post-merge", "pre-auto-gc", "post-update", "reference-transaction", "fsmonitor-watchman", "post-index-change", "pre-receive"} {
		path := filepath.Join(x.dir, ".git", "hooks", hook)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			x.t.Fatal(err)
		}
		if err := os.Symlink(program, path); err != nil {
			x.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(x.dir, ".git", "info"), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(x.dir, ".git", "info", "attributes"), []byte(evilAttributes), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

const evilAttributes = "* diff=evil filter=evil merge=evil text eol=crlf ident\n"

// TestNothingOfARepositoryRuns does all that the package can do with a
// repository that would run a program in some forty ways, in place, as a mirror
// and in a mirror that was changed.
func TestNothingOfARepositoryRuns(t *testing.T) {
	program, check := canary(t)
	x := newFixture(t)
	x.write("a.txt", "one\n")
	x.commit()
	x.write("a.txt", "two\n")
	x.write(".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = ext::"+program+"\n\tupdate = !"+program+"\n")
	x.write(".gitattributes", evilAttributes)
	x.commit()
	x.boobyTrap(program)
	// The trap is set: a careless command runs it.
	x.git("log", "-p", "--ext-diff", "--all")
	if err := os.Remove(filepath.Join(filepath.Dir(program), "ran")); err != nil {
		t.Fatalf("git log did not run the program: %v", err)
	}
	everything(t, x.open(), check)

	mirrored := filepath.Join(t.TempDir(), "mirror")
	m, err := unbounded.Mirror(t.Context(), "", "file://"+x.dir, mirrored, nil)
	if err != nil {
		t.Fatal(err)
	}
	check("Mirror")
	everything(t, m.Repo, check)
	if err := m.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	check("Fetch")
}

// everything calls each method of a repository.
func everything(t *testing.T, repo *git.Repo, check func(string)) {
	t.Helper()
	ctx := t.Context()
	branch, err := repo.DefaultBranch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	check("DefaultBranch")
	older, err := repo.Resolve(ctx, branch.Commit+"~1")
	if err != nil {
		t.Fatal(err)
	}
	o := git.LogOptions{Depth: git.LogHunks, Mailmap: branch.Commit}
	files := 0
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		check(what)
	}
	must("ListTree", repo.ListTree(ctx, branch.Commit, func(e git.TreeEntry) error {
		files++
		readAll(t, repo, []string{e.OID})
		return nil
	}))
	if files < 3 {
		t.Errorf("%d files were listed, want three", files)
	}
	must("Log", repo.Log(ctx, []string{branch.Commit, older}, o, func(*git.Commit) error { return nil }))
	must("Compare", repo.Compare(ctx, older, branch.Commit, nil, o, func(git.FileDiff) error { return nil }))
	must("DiffTree", repo.DiffTree(ctx, older, branch.Commit, func(git.Change) error { return nil }))
	must("RevList", repo.RevList(ctx, []string{branch.Commit}, nil, func(git.Listed) error { return nil }))
	must("History", repo.History(ctx, []string{branch.Commit}, git.HistoryOptions{Path: "a.txt", Follow: true}, func(string) error { return nil }))
	must("EachRef", repo.EachRef(ctx, true, []string{"refs/heads/"}, func(git.Ref) error { return nil }))
	_, err = repo.Blame(ctx, branch.Commit, "a.txt", 1, 1, true, nil)
	must("Blame", err)
	_, err = repo.Contributors(ctx, branch.Commit, git.HistoryOptions{})
	must("Contributors", err)
	_, err = repo.Mailmap(branch.Commit).Map(ctx, []git.Person{{Name: "A", Email: "a@example.org"}})
	must("Mailmap.Map", err)
	_, _, err = repo.BehindAhead(ctx, older, branch.Commit)
	must("BehindAhead", err)
	_, err = repo.Commits(ctx, []string{"main", "--upload-pack=x", "HEAD"})
	must("Commits", err)
}

// TestSourcesThatRunPrograms: none of the ways in which a URL names a program or
// an option reaches git.
func TestSourcesThatRunPrograms(t *testing.T) {
	program, check := canary(t)
	for _, url := range []string{
		"ext::" + program, "ext::sh -c " + program, "fd::17", "EXT::" + program, "a-b+c::" + program,
		"--upload-pack=" + program, "-u" + program, "-oProxyCommand=" + program,
		"ssh://-oProxyCommand=" + program + "/x", "ssh://-oProxyCommand=" + program + "@host/x", "-oProxyCommand=x:y",
		"user@-oProxyCommand=x:y", "git://-oProxyCommand=x/y", "http://-x/y",
		"file://" + t.TempDir() + "/--upload-pack=" + program, "transport::file:///x", "https://h/x\n--upload-pack=" + program, "\x00", "", "ftp://h/x", "javascript://x",
	} {
		dir := filepath.Join(t.TempDir(), "mirror")
		_, err := unbounded.Mirror(t.Context(), "", url, dir, nil)
		if err == nil {
			t.Errorf("Mirror(%q) succeeded", url)
			continue
		}
		if strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("Mirror(%q): %q has several lines", url, err)
		}
		if !errors.Is(err, git.ErrURL) && !strings.HasPrefix(url, "file://") {
			t.Errorf("Mirror(%q) = %v, want ErrURL", url, err)
		}
		check("a mirror of " + url)
	}
}

// TestOddRefs: refs that git itself would not make are passed over or shown as
// they are, and do not hide the good ones.
func TestOddRefs(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "one\n")
	good := x.commit()
	blob, tree := x.git("rev-parse", "HEAD:a.txt"), x.git("rev-parse", "HEAD^{tree}")
	missing := strings.Repeat("1", 40)
	nested := good
	kind := "commit"
	for i := range 50 {
		nested = x.gitInput(fmt.Sprintf("object %s\ntype %s\ntag t%d\ntagger A <a@example.org> 1 +0000\n\nx\n", nested, kind, i), "mktag")
		kind = "tag"
	}
	packed := "# pack-refs with: peeled fully-peeled sorted \n"
	names := map[string]string{
		"refs/heads/-dash": good, "refs/heads/--upload-pack=x": good, "refs/heads/\xff\xfe": good, "refs/heads/a..b": good,
		"refs/heads/ctrl\x01x": good, "refs/heads/esc\x1b[31m": good, "refs/heads/to-blob": blob,
		"refs/heads/to-tree": tree, "refs/heads/to-nothing": missing, "refs/tags/nested": nested,
	}
	for i := range 2000 {
		names[fmt.Sprintf("refs/heads/many/%06d", i)] = good
	}
	for _, name := range sortedKeys(names) {
		packed += names[name] + " " + name + "\n"
	}
	if err := os.WriteFile(filepath.Join(x.dir, ".git", "packed-refs"), []byte(packed), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"loop": "ref: refs/heads/loop\n", "outside": "ref: ../../../../etc/passwd\n", "rubbish": "\x00\xff\n", "empty": ""} {
		if err := os.WriteFile(filepath.Join(x.dir, ".git", "refs", "heads", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repo := x.open()
	if b, err := repo.DefaultBranch(t.Context()); err != nil || b.Commit != good {
		t.Errorf("DefaultBranch = %+v, %v; want %s", b, err, good)
	}
	refs, err := repo.Refs(t.Context(), "refs/heads/")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(refs, "refs/heads/many/001999") {
		t.Errorf("of %d refs none is the last of many", len(refs))
	}
	commits, err := repo.Commits(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for i, ref := range refs {
		if strings.Contains(ref, "/../") {
			t.Errorf("%q is listed", ref)
		}
		if strings.HasPrefix(ref, "refs/heads/to-") && commits[i] != "" {
			t.Errorf("%s is the commit %s", ref, commits[i])
		}
	}
	if got, err := repo.Resolve(t.Context(), "refs/tags/nested"); err != nil || got != good {
		t.Errorf("a tag of fifty tags is %q, %v; want %s", got, err, good)
	}
	for _, rev := range []string{"-dash", "--upload-pack=x", "refs/heads/to-nothing", "refs/heads/loop", "refs/heads/outside", "refs/heads/to-blob"} {
		if got, err := repo.Resolve(t.Context(), rev); err == nil {
			t.Errorf("Resolve(%q) = %s", rev, got)
		}
	}
}

// TestRefsOutOfTheRepository: git takes no part of a list that names a ref
// outside of refs, and says so.
func TestRefsOutOfTheRepository(t *testing.T) {
	x := newFixture(t)
	good := x.commit()
	packed := good + " refs/heads/../../../escape\n"
	if err := os.WriteFile(filepath.Join(x.dir, ".git", "packed-refs"), []byte(packed), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := x.open().Refs(t.Context(), "refs/heads/")
	oneLine(t, err, "dangerous", "escape")
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestOddHeads: a HEAD that leads nowhere, to itself or out of the repository is
// an error of one line or an empty repository, at once.
func TestOddHeads(t *testing.T) {
	for name, head := range map[string]string{
		"itself": "ref: HEAD\n", "outside": "ref: ../../../../../etc/passwd\n", "absolute": "ref: /etc/passwd\n", "unborn": "ref: refs/heads/none\n",
		"option": "ref: refs/heads/--exec=x\n", "rubbish": "\x00\x01\xff", "missing": strings.Repeat("2", 40) + "\n", "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			x := newFixture(t)
			x.commit()
			if err := os.WriteFile(filepath.Join(x.dir, ".git", "HEAD"), []byte(head), 0o644); err != nil {
				t.Fatal(err)
			}
			repo, err := git.Open(t.Context(), x.dir)
			if err == nil {
				_, err = repo.DefaultBranch(t.Context())
			}
			oneLine(t, err)
		})
	}
}

// TestOddFiles: what a local repository may hold besides objects does not lead
// git into a loop or out of bounds.
func TestOddFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		plant func(x *fixture, gitDir string) error
		fails bool
	}{
		{"alternates: itself", alternates("../objects\n.\n../../.git/objects\n"), false},
		{"alternates: /etc and the root", alternates("/etc\n/\n/proc/self\n"), false},
		{"alternates: rubbish", alternates(strings.Repeat("\x00\xff/../\n", 10_000)), false},
		{"alternates over http", func(_ *fixture, dir string) error {
			return os.WriteFile(filepath.Join(dir, "objects", "info", "http-alternates"), []byte("http://127.0.0.1:1/objects\n"), 0o644)
		}, false},
		{"config is no configuration", func(_ *fixture, dir string) error {
			return os.WriteFile(filepath.Join(dir, "config"), []byte("[core\n\x00"), 0o644)
		}, true},
		{"config includes itself", func(_ *fixture, dir string) error {
			return os.WriteFile(filepath.Join(dir, "config"), []byte("[include]\n\tpath = config\n"), 0o644)
		}, true},
		{"grafts and a shallow file", func(x *fixture, dir string) error {
			return os.WriteFile(filepath.Join(dir, "info", "grafts"), []byte(strings.Repeat("1", 40)+"\n"), 0o644)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newFixture(t)
			x.write("a.txt", "one\n")
			commit := x.commit()
			dir := filepath.Join(x.dir, ".git")
			for _, sub := range []string{"objects/info", "info"} {
				if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.plant(x, dir); err != nil {
				t.Fatal(err)
			}
			repo, err := git.Open(t.Context(), x.dir)
			if test.fails {
				oneLine(t, err, x.dir)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			err = repo.ListTree(t.Context(), commit, func(e git.TreeEntry) error {
				n++
				if got := readAll(t, repo, []string{e.OID}); string(got[0].data) != "one\n" {
					t.Errorf("%s holds %q, %v", e.Path, got[0].data, got[0].err)
				}
				return nil
			})
			if err != nil || n != 1 {
				t.Errorf("ListTree listed %d files, %v; want one", n, err)
			}
		})
	}
}

func alternates(text string) func(*fixture, string) error {
	return func(_ *fixture, dir string) error {
		return os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(text), 0o644)
	}
}
