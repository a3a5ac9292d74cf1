package ingest_test

import (
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Two nodes sync one repository, the second whenever the first is about to commit what
// it has read. Neither fails, and both have the last commit.
func TestNodesSyncOneRepository(t *testing.T) {
	for _, c := range []struct {
		name string
		file string
	}{
		{"small", "a line\n"},
		{"large", strings.Repeat("a line\n", 1<<20)}, // too large for a group
	} {
		t.Run(c.name, func(t *testing.T) {
			n, src := newNodes(t), newRepo(t)
			parsed, err := ingest.ParseSource("far=file://" + src.dir)
			if err != nil {
				t.Fatal(err)
			}
			src.write(map[string]string{"a.txt": c.file})
			src.commit()
			if _, err := n.first.ix.Add(t.Context(), parsed); err != nil {
				t.Fatal(err)
			}
			n.await(func(sn *store.Snapshot) bool { return sn.RepositoryByID(n.first.record("far").ID) != nil })
			overtakes := 0
			for _, text := range []string{"1", "2"} {
				src.write(map[string]string{"b.txt": text})
				src.commit()
				overtaken := false
				_, err := n.first.ix.Sync(t.Context(), "far", func(p ingest.Progress) {
					if p.Phase != "commit" || overtaken {
						return
					}
					overtaken = true
					overtakes++
					if _, err := n.other.ix.Sync(t.Context(), "far", nil); err != nil {
						t.Errorf("the other node: %v", err)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
			if overtakes != 2 {
				t.Errorf("overtaken %d times, want 2", overtakes)
			}
			want := src.git("rev-parse", "main")
			for _, f := range []*fixture{n.first, n.other} {
				if err := f.st.Node().CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if r := f.record("far"); r.Branches[0].Commit != want || r.LastError != "" || r.Documents != 2 {
					t.Errorf("a node has %+v, want commit %s", r, want)
				}
			}
		})
	}
}
