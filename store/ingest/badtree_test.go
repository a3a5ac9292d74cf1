package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// TestBadTrees: a tree that git does not list is refused in a line under its
// repository's name, which people see; what was indexed stays, another branch is
// indexed where it is the one that is bad, and so is the next good commit. What
// git does list is in TestOddTree.
func TestBadTrees(t *testing.T) {
	r := newRepo(t)
	one := r.object("blob", "one\n")
	file, none := entry(t, "100644", "a", one), strings.Repeat("12", 20)
	good := r.git("commit-tree", "-m", "good", r.object("tree", file))
	f := newFixture(t, ingest.Options{})
	r.git("update-ref", "refs/heads/main", good)
	f.sync("r", r)
	if _, err := f.st.Repositories().ChangeFacts("r", store.FactsChange{Branches: &[]string{"side"}}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, tree, want string }{
		{"no name", entry(t, "100644", "", one), "empty filename in tree entry"},
		{"no mode", entry(t, "", "a", one), "malformed mode in tree entry"},
		{"mode of letters", entry(t, "blob", "a", one), "malformed mode in tree entry"},
		{"cut off in an id", file[:len(file)-1], "too-short tree object"},
		{"cut off in a name", file + "100644 b", "too-short tree object"},
		{"no end of a name", "100644 " + strings.Repeat("x", 100_000), "too-short tree object"},
		{"rubbish", strings.Repeat("\xff\x00", 100_000), "malformed mode in tree entry"},
		{"bad below", file + entry(t, "40000", "d", r.object("tree", entry(t, "100644", "", one))), "empty filename in tree entry"},
		{"a directory that is a file", file + entry(t, "40000", "d", one), "not a tree"},
		{"a directory that is missing", file + entry(t, "40000", "d", none), "Could not read " + none},
	} {
		bad := r.git("commit-tree", "-m", "bad", r.object("tree", test.tree))
		r.git("update-ref", "refs/heads/main", bad)
		_, err := f.ix.Sync(context.Background(), "r", nil)
		if err == nil || !strings.HasPrefix(err.Error(), `sync "r": list tree `) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%s: got %.400v, want a line with %q", test.name, err, test.want)
		}
		if told := f.repository("r").LastError; err == nil || told != err.Error() {
			t.Errorf("%s: people are told %q, want %v", test.name, told, err)
		}
		f.want("r", map[string]string{"a": "one\n"})

		r.git("update-ref", "refs/heads/main", good)
		r.git("update-ref", "refs/heads/side", bad)
		if _, err := f.ix.Sync(context.Background(), "r", nil); err != nil {
			t.Errorf("%s: a bad branch beside a good one: %v", test.name, err)
		}
		if told := f.repository("r").LastError; !strings.HasPrefix(told, "branch side is left out: ") || !strings.Contains(told, test.want) {
			t.Errorf("%s: people are told %q, want that the branch is left out, and %q", test.name, told, test.want)
		}
		f.want("r", map[string]string{"a": "one\n"})
		f.readHistory(t)
		r.git("update-ref", "-d", "refs/heads/side")
	}
	if _, err := f.ix.Sync(context.Background(), "r", nil); err != nil || f.repository("r").LastError != "" {
		t.Errorf("without anything bad: %v, %q; want no error", err, f.repository("r").LastError)
	}
}
