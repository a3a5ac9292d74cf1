package ingest_test

import (
	"context"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
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
		path := strings.Repeat(string(c), store.MaxPathBytes)
		want[path] = "one\n"
		entries = append(entries, [2]string{path, one})
	}
	r.commitTree(entries...)
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	f.want("r", want)

	r.commitTree([2]string{strings.Repeat("p", store.MaxPathBytes+1), one}, [2]string{"q", one})
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
	if err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "256 MiB of paths") {
		t.Errorf("sync of a tree bomb: %.300v, want a short error that tells the limit", err)
	}
	f.want("r", map[string]string{"a": "one\n"})
}
