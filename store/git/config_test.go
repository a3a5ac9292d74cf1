package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/git"
)

// answers returns all that the package says about a repository, as text.
func answers(t *testing.T, repo *git.Repo) string {
	t.Helper()
	ctx := t.Context()
	var out strings.Builder
	say := func(what string, v any, err error) {
		fmt.Fprintf(&out, "%s: %+v %v\n", what, v, err)
	}
	branch, err := repo.DefaultBranch(ctx)
	say("DefaultBranch", branch, err)
	commits := []string{}
	err = repo.RevList(ctx, []string{branch.Commit}, nil, func(l git.Listed) error {
		commits = append(commits, l.OID)
		say("RevList", l, nil)
		return nil
	})
	say("RevList", nil, err)
	if len(commits) < 2 {
		t.Fatalf("too few commits: %s", out.String())
	}
	older := commits[len(commits)-1]
	err = repo.ListTree(ctx, branch.Commit, func(e git.TreeEntry) error {
		say("ListTree", e, nil)
		say("Blob", fmt.Sprintf("%+v", readAll(t, repo, []string{e.OID})), nil)
		return nil
	})
	say("ListTree", nil, err)
	for _, depth := range []git.LogDepth{git.LogMessages, git.LogPaths, git.LogHunks} {
		o := git.LogOptions{Depth: depth, Mailmap: branch.Commit}
		err = repo.Log(ctx, commits, o, func(c *git.Commit) error {
			say("Log", fmt.Sprintf("%+v", *c), nil)
			return nil
		})
		say("Log", depth, err)
		if depth == git.LogMessages {
			continue
		}
		err = repo.LogFrom(ctx, commits[0], len(commits)-1, o, func(c *git.Commit) error {
			say("LogFrom", fmt.Sprintf("%+v", *c), nil)
			return nil
		})
		say("LogFrom", depth, err)
		err = repo.Compare(ctx, older, branch.Commit, nil, o, func(d git.FileDiff) error {
			say("Compare", d, nil)
			return nil
		})
		say("Compare", depth, err)
	}
	err = repo.DiffTree(ctx, older, branch.Commit, func(c git.Change) error {
		say("DiffTree", c, nil)
		return nil
	})
	say("DiffTree", nil, err)
	for _, o := range []git.HistoryOptions{{Path: "a.txt", Follow: true}, {Path: "a.txt"}, {}} {
		err = repo.History(ctx, []string{branch.Commit}, o, func(oid string) error {
			say("History", oid, nil)
			return nil
		})
		say("History", o, err)
	}
	err = repo.EachRef(ctx, true, []string{"refs/"}, func(r git.Ref) error {
		say("EachRef", r, nil)
		return nil
	})
	say("EachRef", nil, err)
	for _, path := range []string{"a.txt", "ünïcode \"name\".txt"} {
		for _, ignore := range []bool{false, true} {
			hunks, err := repo.Blame(ctx, branch.Commit, path, 1, 3, ignore, nil)
			say("Blame", hunks, err)
		}
	}
	people, err := repo.Contributors(ctx, branch.Commit, git.HistoryOptions{})
	say("Contributors", people, err)
	mapped, err := repo.Mailmap(branch.Commit).Map(ctx, []git.Person{{Name: "A", Email: "a@example.org"}})
	say("Mailmap.Map", mapped, err)
	behind, ahead, err := repo.BehindAhead(ctx, older, branch.Commit)
	say("BehindAhead", []int{behind, ahead}, err)
	named, err := repo.Commits(ctx, []string{"main", "v1", "HEAD", "HEAD~1"})
	say("Commits", named, err)
	base, err := repo.MergeBase(ctx, older, branch.Commit)
	say("MergeBase", base, err)
	return out.String()
}

// settingsOfARepository are those that change what git says, or might, with a
// value that does.
func settingsOfARepository(x *fixture) map[string]string {
	outside := filepath.Join(x.t.TempDir(), "outside")
	for name, text := range map[string]string{
		"attributes": "* -diff binary working-tree-encoding=UTF-16 eol=crlf ident\n", "revs": x.git("rev-parse", "HEAD") + "\n",
		"mailmap": "Mapped <mapped@example.org> <a@example.org>\n", "order": "z*\na*\n",
		"config": "[diff]\n\tnoprefix = true\n\tcontext = 0\n[i18n]\n\tlogOutputEncoding = UTF-16\n[core]\n\tquotePath = false\n",
	} {
		if err := os.MkdirAll(outside, 0o755); err != nil {
			x.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o644); err != nil {
			x.t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(outside, name) }
	return map[string]string{
		"blame.ignoreRevsFile": in("revs"), "blame.blankBoundary": "true", "blame.coloring": "highlightRecent", "blame.date": "relative",
		"blame.showEmail": "true", "blame.showRoot": "true", "blame.markIgnoredLines": "true", "blame.markUnblamableLines": "true",
		"core.abbrev": "4", "core.attributesFile": in("attributes"), "core.autocrlf": "true", "core.bigFileThreshold": "1", "core.checkStat": "minimal",
		"core.commentChar": "c", "core.commitGraph": "false", "core.deltaBaseCacheLimit": "1", "core.eol": "crlf", "core.excludesFile": in("order"),
		"core.fileMode": "false", "core.ignoreCase": "true", "core.logAllRefUpdates": "always", "core.multiPackIndex": "false", "core.notesRef": "refs/heads/main",
		"core.packedGitLimit": "1", "core.packedGitWindowSize": "1", "core.precomposeUnicode": "true", "core.preferSymlinkRefs": "true", "core.protectNTFS": "true",
		"core.protectHFS": "true", "core.quotePath": "false", "core.sparseCheckout": "true", "core.symlinks": "false", "core.useReplaceRefs": "true",
		"core.warnAmbiguousRefs": "true", "core.whitespace": "cr-at-eol,tabwidth=1", "core.untrackedCache": "true",
		"color.ui": "always", "color.diff": "always", "color.branch": "always", "column.ui": "always",
		"diff.algorithm": "patience", "diff.autoRefreshIndex": "true", "diff.colorMoved": "zebra", "diff.colorMovedWS": "ignore-all-space", "diff.context": "0",
		"diff.dirstat": "lines", "diff.ignoreSubmodules": "all", "diff.indentHeuristic": "false", "diff.interHunkContext": "9", "diff.mnemonicPrefix": "true",
		"diff.noprefix": "true", "diff.srcPrefix": "x/", "diff.dstPrefix": "y/", "diff.orderFile": in("order"), "diff.relative": "true", "diff.renameLimit": "1",
		"diff.renames": "false", "diff.statGraphWidth": "1", "diff.submodule": "log", "diff.suppressBlankEmpty": "true", "diff.wordRegex": ".", "diff.wsErrorHighlight": "all",
		"diff.odd.xfuncname": "one", "diff.odd.binary": "true", "diff.odd.textconv": "tr a-z A-Z <", "diff.odd.command": "echo", "diff.odd.algorithm": "histogram",
		"diff.default.binary": "true",
		"format.pretty":       "oneline", "format.notes": "true", "format.encodeEmailHeaders": "true", "format.noprefix": "true",
		"grep.patternType": "perl", "i18n.commitEncoding": "ISO-8859-1", "i18n.logOutputEncoding": "UTF-16", "include.path": in("config"),
		"log.abbrevCommit": "true", "log.date": "relative", "log.decorate": "full", "log.diffMerges": "combined", "log.excludeDecoration": "refs/heads/*", "log.follow": "true",
		"log.graphColors": "red", "log.initialDecorationSet": "all", "log.mailmap": "false", "log.showRoot": "false", "log.showSignature": "true",
		"mailmap.file": in("mailmap"), "mailmap.blob": "HEAD:other-mailmap", "notes.displayRef": "refs/heads/*", "notes.rewriteRef": "refs/*",
		"merge.renames": "false", "merge.renameLimit": "1", "pack.useBitmaps": "false", "pack.usePathWalk": "true", "index.version": "4", "feature.experimental": "true", "feature.manyFiles": "true",
		"extensions.worktreeConfig": "true", "versionsort.suffix": "-x", "branch.sort": "-committerdate", "tag.sort": "-refname", "ui.x": "y",
		"alias.log": "status", "alias.rev-list": "status", "alias.cat-file": "!false", "pager.rev-list": "false", "help.autoCorrect": "1", "status.relativePaths": "true",
		"submodule.recurse": "true", "remote.origin.url": "ext::false", "transfer.hideRefs": "refs/tags", "uploadpack.hideRefs": "refs/tags", "gc.auto": "1", "maintenance.auto": "true",
		"fsck.missingEmail": "error", "fsck.skipList": in("order"), "trace2.normalTarget": in("trace"), "trace2.eventTarget": in("trace"), "trace2.perfTarget": in("trace"),
		"rerere.enabled": "true", "attr.tree": "refs/heads/attributes", "diff.trustExitCode": "true", "safe.bareRepository": "explicit", "core.maxTreeDepth": "1",
		"core.fsyncMethod": "batch", "core.sharedRepository": "0666", "core.alternateRefsPrefixes": "refs/x", "gitattributes.x": "y", "rebase.instructionFormat": "%H",
	}
}

// TestConfigurationOfARepositoryChangesNothing: what the package says of a
// repository, in place and of its mirror, is the same whatever settings it has.
func TestConfigurationOfARepositoryChangesNothing(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "one\nvalue = compute(alpha, beta, gamma);\n\ntwo\n")
	x.write("ünïcode \"name\".txt", "äöü\n")
	x.write("sub/b.c", "int one(void)\n{\n\treturn 1;\n}\n\nint two(void)\n{\n\treturn 2;\n}\n")
	x.write("other-mailmap", "Other <other@example.org> <a@example.org>\n")
	x.commit()
	x.git("tag", "v1")
	x.git("branch", "attributes")
	x.write(".gitattributes", "*.txt diff=odd\n")
	x.write(".mailmap", "Known <known@example.org> <a@example.org>\n")
	x.write("a.txt", "one\nvalue = compute(alpha, beta, delta);\n\ntwo!\nthree\n")
	x.git("mv", "sub/b.c", "sub/c.c")
	x.write("sub/c.c", "int one(void)\n{\n\treturn 1;\n}\n\nint two(void)\n{\n\treturn 22;\n}\n")
	x.commit()
	x.git("commit", "-q", "--allow-empty", "--amend", "-m", "Überschrift\n\nText")
	want := answers(t, x.open())
	if strings.Count(want, "<nil>") < 30 || strings.Contains(want, "Other") || !strings.Contains(want, "Known") {
		t.Fatalf("answers without settings:\n%s", want)
	}
	config := filepath.Join(x.dir, ".git", "config")
	plain, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	settings := settingsOfARepository(x)
	same := func(what string) bool {
		t.Helper()
		got := answers(t, x.open())
		if got != want {
			t.Errorf("%s changes answers:\n%s", what, difference(got, want))
		}
		return got == want
	}
	set := func(names []string) {
		t.Helper()
		if err := os.WriteFile(config, plain, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			x.git("config", name, settings[name])
		}
	}
	if err := os.WriteFile(filepath.Join(x.dir, ".git", "config.worktree"), []byte("[diff]\n\tnoprefix = true\n[log]\n\tshowRoot = false\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	names := sortedKeys(settings)
	set(names)
	same("all settings together")
	for some := range slices.Chunk(names, 16) {
		set(some)
		if same(fmt.Sprintf("one of %q", some)) {
			continue
		}
		for _, name := range some {
			set([]string{name})
			same(name + " = " + settings[name])
		}
	}
}

// difference returns the lines of got that want does not have, and the reverse.
func difference(got, want string) string {
	var out strings.Builder
	for line := range strings.Lines(got) {
		if !strings.Contains(want, line) {
			fmt.Fprintf(&out, "+%.300s\n", strings.TrimSpace(line))
		}
	}
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			fmt.Fprintf(&out, "-%.300s\n", strings.TrimSpace(line))
		}
	}
	return out.String()
}
