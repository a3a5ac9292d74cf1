package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// manyPerShard is how many repositories of a manyCorpus share a shard.
const manyPerShard = 20_000

// manyCorpus is a store of n repositories with one small file each: one in ten is a
// fork, one in fifty archived, and one in a hundred has readers. The last are in
// shards of their own, as merges part them.
func manyCorpus(t testing.TB, n int) *corpus {
	t.Helper()
	c := &corpus{}
	var err error
	if c.st, err = store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close(t) })
	var change store.Change
	var open, restricted []*store.Repository
	for i := range n {
		r := &store.Repository{ID: uint32(i + 1), Name: fmt.Sprintf("github.com/org%d/repository-%d", i%317, i), Generation: 1, Documents: 1, Stars: n - i}
		r.Branches = []store.Branch{{Name: "main", Commit: strings.Repeat(fmt.Sprintf("%x", i%15+1), 40)}}
		r.Fork, r.Archived = i%10 == 3, i%50 == 7
		if i%100 == 9 {
			r.Readers = &store.Readers{Users: []uint32{1}}
			restricted = append(restricted, r)
		} else {
			open = append(open, r)
		}
		change.Repositories = append(change.Repositories, r)
	}
	w := c.st.NewShardWriter()
	defer w.Close()
	fill := func(repos []*store.Repository) {
		for len(repos) > 0 {
			here := repos[:min(len(repos), manyPerShard)]
			repos = repos[len(here):]
			for _, r := range here {
				text := fmt.Sprintf("func part%d() {}\n", r.ID)
				if r.ID%uint32(n/10) == 5 {
					text += "uncommon\n"
				}
				if err := w.AddDocument(shard.Document{Repository: r.ID, Path: "main.go", OID: make([]byte, 20), Mode: 0o100644, Language: "Go"}, []byte(text), true); err != nil {
					t.Fatal(err)
				}
			}
			h, err := w.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			change.Add = append(change.Add, h)
			for _, r := range here {
				r.Shards = []uint32{h.ID}
			}
		}
	}
	fill(open)
	fill(restricted)
	if err := c.st.Commit(change); err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkSearchFixedCost is a search that has little to read in a store of many
// repositories.
func BenchmarkSearchFixedCost(b *testing.B) {
	public := func(r *store.Repository) bool { return r.Readers == nil }
	for _, n := range []int{1000, 10_000, 100_000} {
		c := manyCorpus(b, n)
		s := search.New(c.st, search.Settings{})
		for _, bb := range []struct {
			name, text string
			visible    func(*store.Repository) bool
		}{
			{"absent", "quuxfrobnicate", nil},
			{"absent-restricted", "quuxfrobnicate", public},
			{"uncommon", "uncommon", nil},
			{"uncommon-restricted", "uncommon", public},
			{"one", fmt.Sprintf(`repo:^github\.com/org%d/repository-%d$ part`, (n/2)%317, n/2), nil},
			{"one-regexp", fmt.Sprintf(`repo:^git[^/]*/org%d/.*-%d$ part`, (n/2)%317, n/2), nil},
			{"org", "repo:github.com/org13/ quuxfrobnicate", nil},
			{"without", "-repo:org13/ quuxfrobnicate", nil},
			{"forks", "fork:yes quuxfrobnicate", nil},
		} {
			b.Run(fmt.Sprintf("repos=%d/query=%s", n, bb.name), func(b *testing.B) {
				b.ReportAllocs()
				matches := 0
				for b.Loop() {
					matches = 0
					q, err := syntax.Parse(bb.text, query.Keyword)
					if err != nil {
						b.Fatal(err)
					}
					o := search.Options{Report: report.New(time.Now), Display: -1, Trace: &report.Trace{}, Visible: bb.visible}
					out := s.Search(context.Background(), q, o, answer.SinkFunc(func(m []query.Match) error {
						matches += len(m)
						return nil
					}))
					if out.Err != nil {
						b.Fatal(out.Err)
					}
				}
				b.ReportMetric(float64(matches), "matches/op")
			})
		}
	}
}
