package ingest_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// object writes an object as it is, even one that git would not make.
func (r *repo) object(kind, content string) string {
	r.t.Helper()
	cmd := exec.Command("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	cmd.Dir = r.dir
	cmd.Stdin = strings.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// commitTree commits a tree of files given as path and object id.
func (r *repo) commitTree(entries ...[2]string) {
	r.t.Helper()
	var tree strings.Builder
	for _, e := range entries {
		raw, err := hex.DecodeString(e[1])
		if err != nil {
			r.t.Fatal(err)
		}
		tree.WriteString("100644 " + e[0] + "\x00" + string(raw))
	}
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "x", r.object("tree", tree.String())))
}

// TestPathTwice: a tree that names a path twice is one document a path, and
// none of them stays behind when the path goes.
func TestPathTwice(t *testing.T) {
	r := newRepo(t)
	one, two := r.object("blob", "one\n"), r.object("blob", "two\n")
	f := newFixture(t, ingest.Options{})
	type files = map[string]string
	steps := []struct {
		entries [][2]string
		want    files
	}{
		{[][2]string{{"a", one}, {"a", two}}, files{"a": "one\n"}},
		{[][2]string{{"a", one}, {"a", two}, {"b", two}}, files{"a": "one\n", "b": "two\n"}},
		// The first counts, whatever was there already.
		{[][2]string{{"a", two}, {"a", one}, {"a", one}}, files{"a": "two\n"}},
		{[][2]string{{"b", two}, {"b", two}}, files{"b": "two\n"}},
	}
	for _, step := range steps {
		r.commitTree(step.entries...)
		f.sync("r", r)
		f.want("r", step.want)
	}
	if err := f.ix.Remove(context.Background(), "r"); err != nil {
		t.Fatal(err)
	}
	sn := f.st.Snapshot()
	defer sn.Close()
	if n := len(sn.Shards()); n != 0 {
		t.Errorf("%d shards are left of the only repository, want none", n)
	}
}

// TestLongPath: paths far longer than a file system takes are searched, and
// one beyond the limit is an error of one short line.
func TestLongPath(t *testing.T) {
	r := newRepo(t)
	one := r.object("blob", "one\n")
	want := map[string]string{}
	var entries [][2]string
	for _, c := range "abc" {
		path := strings.Repeat(string(c), shard.MaxPathBytes)
		want[path] = "one\n"
		entries = append(entries, [2]string{path, one})
	}
	r.commitTree(entries...)
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	f.want("r", want)

	r.commitTree([2]string{strings.Repeat("p", shard.MaxPathBytes+1), one}, [2]string{"q", one})
	_, err := f.ix.Sync(context.Background(), "r", nil)
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "1048577") {
		t.Errorf("sync of a longer path: %.300v, want a short error with its length", err)
	}
	f.want("r", want)
}

// TestTreeBomb: a tree that holds itself, as it were, is an error of one short
// line long before it is listed, and what was indexed stays.
func TestTreeBomb(t *testing.T) {
	r := newRepo(t)
	one := r.object("blob", "one\n")
	r.commitTree([2]string{"a", one})
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)

	// Ten entries on each of ten levels: ten to the tenth files.
	entry := func(mode, name, oid string) string {
		raw, err := hex.DecodeString(oid)
		if err != nil {
			t.Fatal(err)
		}
		return mode + " " + name + "\x00" + string(raw)
	}
	below := r.object("tree", entry("100644", "file", one))
	for range 10 {
		var tree strings.Builder
		for i := range 10 {
			tree.WriteString(entry("40000", string(rune('0'+i))+strings.Repeat("d", 60_000), below))
		}
		below = r.object("tree", tree.String())
	}
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "bomb", below))
	_, err := f.ix.Sync(context.Background(), "r", nil)
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "128 MiB of paths") {
		t.Errorf("sync of a tree bomb: %.300v, want a short error that tells the limit", err)
	}
	f.want("r", map[string]string{"a": "one\n"})
}

// rawCommit writes a commit as it is and has main name it.
func (r *repo) rawCommit(tree, parents, who, message string) string {
	r.t.Helper()
	id := r.object("commit", "tree "+tree+"\n"+parents+"author "+who+"\ncommitter "+who+"\n\n"+message)
	r.git("update-ref", "refs/heads/main", id)
	return id
}

// refused is what a sync or history says of what it does not take: a line.
func refused(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), part) {
		t.Errorf("it says %.700v, want a line with %q", err, part)
	}
}

// TestDeepTree: a tree that is nested beyond git's stack is refused in a line,
// and what was indexed stays, as do others.
func TestDeepTree(t *testing.T) {
	const depth = 100_000
	r, other := newRepo(t), newRepo(t)
	r.commitTree([2]string{"a", r.object("blob", "one\n")})
	other.commitTree([2]string{"b", other.object("blob", "two\n")})
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "deep", r.nested(depth)))
	_, err := f.ix.Sync(context.Background(), "r", nil)
	refused(t, err, "want of stack")
	f.sync("other", other)
	f.want("r", map[string]string{"a": "one\n"})
	f.want("other", map[string]string{"b": "two\n"})
}

// nested writes a pack of trees, each of which holds the one before, and returns
// the outermost.
func (r *repo) nested(depth int) string {
	r.t.Helper()
	raw, err := hex.DecodeString(r.object("blob", "deep\n"))
	if err != nil {
		r.t.Fatal(err)
	}
	tree := append([]byte("100644 f\x00"), raw...)
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(depth))
	var body bytes.Buffer
	w := zlib.NewWriter(&body)
	id := ""
	for range depth {
		sum := sha1.Sum(append([]byte("tree "+strconv.Itoa(len(tree))+"\x00"), tree...))
		id = hex.EncodeToString(sum[:])
		body.Reset()
		w.Reset(&body)
		if _, err := w.Write(tree); err != nil {
			r.t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			r.t.Fatal(err)
		}
		pack = append(pack, 0x80|2<<4|byte(len(tree)&15), byte(len(tree)>>4))
		pack = append(pack, body.Bytes()...)
		tree = append([]byte("40000 a\x00"), sum[:]...)
	}
	sum := sha1.Sum(pack)
	cmd := exec.Command("git", "index-pack", "--stdin")
	cmd.Dir, cmd.Stdin = r.dir, bytes.NewReader(append(pack, sum[:]...))
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("index-pack: %v\n%s", err, out)
	}
	return id
}

// TestOddTree: names that no file system takes, links in circles and out of the
// tree, submodules and absurd modes are documents like others, or told as
// skipped; nothing is followed.
func TestOddTree(t *testing.T) {
	r := newRepo(t)
	text := r.object("blob", "kiln\n")
	link := func(to string) string { return r.object("blob", to) }
	sub := r.object("tree", entry(t, "100644", "inside", text))
	missing := strings.Repeat("2", 40)
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "odd", r.object("tree", strings.Join([]string{
		entry(t, "100644", "..", text), entry(t, "100644", "../../escape", text), entry(t, "40000", ".git", sub), entry(t, "100644", ".GIT", text),
		entry(t, "160000", ".gitmodules", missing), entry(t, "120000", ".mailmap", link("/etc/passwd")), entry(t, "100644", "/etc/passwd", text),
		entry(t, "100644", "new\nline", text), entry(t, "100644", "esc\x1b[31m", text), entry(t, "100644", "\xff\xfe", text),
		entry(t, "120000", "l1", link("l2")), entry(t, "120000", "l2", link("l1")), entry(t, "120000", "up", link("../../../../etc/passwd")),
		entry(t, "100000", "mode", text), entry(t, "100644", "missing", missing), entry(t, "100644", "tree", sub),
	}, ""))))
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	f.want("r", map[string]string{
		"..": "kiln\n", "../../escape": "kiln\n", ".git/inside": "kiln\n", ".GIT": "kiln\n", ".gitmodules": "\x00not searched: submodule", ".mailmap": "/etc/passwd",
		"/etc/passwd": "kiln\n", "new\nline": "kiln\n", "esc\x1b[31m": "kiln\n", "\xff\xfe": "kiln\n", "l1": "l2", "l2": "l1",
		"up": "../../../../etc/passwd", "mode": "kiln\n", "missing": "\x00not searched: missing-object", "tree": "\x00not searched: missing-object",
	})
	f.readHistory(t)
}

func entry(t *testing.T, mode, name, oid string) string {
	t.Helper()
	raw, err := hex.DecodeString(oid)
	if err != nil {
		t.Fatal(err)
	}
	return mode + " " + name + "\x00" + string(raw)
}

// readHistory reads the history of all and wants none to fail.
func (f *fixture) readHistory(t *testing.T) ingest.HistoryResult {
	t.Helper()
	got, err := f.ix.Histories.Read(context.Background(), nil)
	if err != nil || len(got.Failed) > 0 {
		t.Errorf("History failed of %q, %v", got.Failed, err)
	}
	return got
}

// TestOddCommits: commits with absurd people, dates and messages, and a merge
// of thousands, are read as others are.
func TestOddCommits(t *testing.T) {
	r := newRepo(t)
	tree := r.object("tree", entry(t, "100644", "a", r.object("blob", "one\n")))
	last := r.rawCommit(tree, "", "A <a@x> 1 +0000", "first\n")
	commits := 1
	for _, who := range []string{
		"\x1b[31mRed\x07 <\x1b]0;x\x07@x> 1 +0000", "N <e@x> 9223372036854775807 +0000", "N <e@x> -99999999999 -9999",
		"N <e@x> 99999999999999999999999 +99999999", "", "<<<>>>", "\xff\xfe <\xff> 1 +0000", "N <e> 18446744073709551615 +0000",
		strings.Repeat("A", 1_000_000) + " <e@x> 1700000000 +0000",
	} {
		last = r.rawCommit(tree, "parent "+last+"\n", who, "glaze \x1b[2J\x00after\n"+strings.Repeat("word ", 1000))
		commits++
	}
	var parents strings.Builder
	for i := range 200 {
		parents.WriteString("parent " + r.rawCommit(tree, "parent "+last+"\n", "A <a@x> "+strconv.Itoa(i)+" +0000", "side\n") + "\n")
		commits++
	}
	// A parent may be named as often as one likes.
	r.rawCommit(tree, strings.Repeat(parents.String(), 50), "A <a@x> 2 +0000", "merge of ten thousand\n")
	commits++
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	if got := f.readHistory(t); got.Commits != commits {
		t.Errorf("%d commits were read, want %d", got.Commits, commits)
	}
}

// TestHugeMailmap: a .mailmap that would keep git busy for hours is not used.
func TestHugeMailmap(t *testing.T) {
	r := newRepo(t)
	var lines strings.Builder
	for i := range 400_000 {
		n := strconv.Itoa(i * 7919 % 400_000)
		lines.WriteString("N <n@x> <" + n + "@x>\n")
	}
	tree := r.object("tree", entry(t, "100644", ".mailmap", r.object("blob", lines.String())))
	r.rawCommit(tree, "", "O <1@x> 1 +0000", "first\n")
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	if got := f.readHistory(t); got.Commits != 1 {
		t.Errorf("%d commits were read, want one", got.Commits)
	}
	sn := f.st.Snapshot()
	defer sn.Close()
	record, err := sn.Repository("r")
	if err != nil || record.History.Mailmap != "" {
		t.Errorf("the mailmap is %q, %v; want none", record.History.Mailmap, err)
	}
}

// TestHistoryThatEndsInDamage: of a log whose last commit git dies of, the
// others are whole, and that one is not taken for a commit that changed nothing.
func TestHistoryThatEndsInDamage(t *testing.T) {
	r := newRepo(t)
	bad, good := r.object("blob", "lost\n"), r.object("blob", "kiln\n")
	first := r.rawCommit(r.object("tree", entry(t, "100644", "bad", bad)), "", "A <a@x> 1 +0000", "first\n")
	r.rawCommit(r.object("tree", entry(t, "100644", "good", good)), "parent "+first+"\n", "A <a@x> 2 +0000", "second\n")
	third := r.git("rev-parse", "HEAD")
	r.rawCommit(r.object("tree", entry(t, "100644", "good", good)+entry(t, "100644", "more", good)), "parent "+third+"\n", "A <a@x> 3 +0000", "third\n")
	if err := os.WriteFile(r.loose(bad), []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	f.readHistory(t)
	kept, h := f.keptCommits("r")
	var got []string
	for _, k := range kept {
		got = append(got, fmt.Sprint(k.commit.State, " ", k.show[strings.LastIndex(k.show, " ")+1:]))
	}
	if len(kept) != 3 || h.Diffs != 1 || kept[0].commit.State != shard.CommitRead || kept[2].commit.State != shard.CommitUnreadable {
		t.Errorf("%d commits with %d diffs are kept, as %q; want three, the newest with its diff", len(kept), h.Diffs, got)
	}
}

// loose is the file of a loose object, made writable.
func (r *repo) loose(oid string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, ".git", "objects", oid[:2], oid[2:])
	if err := os.Chmod(path, 0o644); err != nil {
		r.t.Fatal(err)
	}
	return path
}
