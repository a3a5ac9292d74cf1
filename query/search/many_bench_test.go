package search_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
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

// manyCorpus is a store of n repositories with one small file and one commit each:
// one in ten is a fork, one in fifty archived, and one in a hundred has readers. The
// last are in shards of their own, as merges part them. unindexed more are not fetched
// yet.
func manyCorpus(t testing.TB, n, unindexed int) *corpus {
	t.Helper()
	c := &corpus{}
	var err error
	if c.st, err = store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close(t) })
	var change store.Change
	var open, restricted []*store.Repository
	for i := range n + unindexed {
		team := fmt.Sprintf("team-%d", i%500)
		r := &store.Repository{ID: uint32(i + 1), Name: fmt.Sprintf("github.com/org%d/repository-%d", i%317, i), Stars: n + unindexed - i,
			Description: fmt.Sprintf("part %d of the whole", i), Topics: []string{"all", team}, Metadata: map[string]*string{"team": &team}}
		r.Fork, r.Archived, r.Private = i%10 == 3, i%50 == 7, i%40 == 11
		change.Repositories = append(change.Repositories, r)
		if i >= n {
			r.Mirror = true
			continue
		}
		r.Generation, r.Documents = 1, 1
		r.Branches = []store.Branch{{Name: "main", Commit: fmt.Sprintf("%040x", i+1)}}
		if i%100 == 9 {
			r.Readers = &store.Readers{Users: []uint32{1}}
			restricted = append(restricted, r)
		} else {
			open = append(open, r)
		}
	}
	w := c.st.NewShardWriter()
	defer w.Close()
	finish := func() shard.Header {
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change.Add = append(change.Add, h)
		return h
	}
	for here := range slices.Chunk(open, manyPerShard) {
		fillMany(t, w, here, n, finish)
	}
	fillMany(t, w, restricted, n, finish)
	if err := c.st.Commit(change); err != nil {
		t.Fatal(err)
	}
	return c
}

// fillMany writes the shards of some repositories.
func fillMany(t testing.TB, w *shard.Writer, here []*store.Repository, n int, finish func() shard.Header) {
	t.Helper()
	for _, r := range here {
		text := fmt.Sprintf("func part%d() {}\n", r.ID)
		if r.ID%uint32(n/10) == 5 {
			text += "uncommon\n"
		}
		if err := w.AddDocument(shard.Document{Repository: r.ID, Path: "main.go", OID: make([]byte, 20), Mode: 0o100644, Language: "Go"}, []byte(text), true); err != nil {
			t.Fatal(err)
		}
	}
	id := finish().ID
	for _, r := range here {
		r.Shards = []uint32{id}
	}
	for _, r := range here {
		oid, err := hex.DecodeString(r.Commit())
		if err != nil {
			t.Fatal(err)
		}
		by := shard.Signature{Person: shard.Person{Name: "Ada", Email: "ada@example.com"}, Seconds: 1_600_000_000 + int64(r.ID)}
		message := fmt.Sprintf("begin part%d\n", r.ID)
		if r.ID%uint32(n/10) == 5 {
			message += "uncommon\n"
		}
		if err := w.AddCommit(shard.Commit{Repository: r.ID, OID: oid, Author: by, Committer: by, State: shard.CommitRead, Effective: by.Seconds}, message, nil); err != nil {
			t.Fatal(err)
		}
	}
	id = finish().ID
	for _, r := range here {
		r.History = store.History{Tip: r.Commit(), Shards: []uint32{id}, Commits: 1, Newest: 1_600_000_000 + int64(r.ID)}
	}
}

// BenchmarkSearchFixedCost is a search that has little to read in a store of many
// repositories.
func BenchmarkSearchFixedCost(b *testing.B) {
	public := func(r *store.Repository) bool { return r.Readers == nil }
	for _, n := range []int{1000, 10_000, 100_000} {
		c := manyCorpus(b, n, 0)
		s := search.New(c.st, search.Settings{})
		one := fmt.Sprintf(`repo:^github\.com/org%d/repository-%d$`, (n/2)%317, n/2)
		for _, bb := range []struct {
			name, text string
			visible    func(*store.Repository) bool
			public     bool
		}{
			{"absent", "quuxfrobnicate", nil, false},
			{"absent-restricted", "quuxfrobnicate", public, true},
			{"absent-restricted-asked", "quuxfrobnicate", public, false},
			{"uncommon", "uncommon", nil, false},
			{"uncommon-restricted", "uncommon", public, true},
			{"absent-half", "quuxfrobnicate", func(r *store.Repository) bool { return r.ID%2 == 0 }, false},
			{"absent-none", "quuxfrobnicate", func(*store.Repository) bool { return false }, false},
			{"absent-allbut3", "quuxfrobnicate", func(r *store.Repository) bool { return r.ID%uint32(n/3) != 1 }, false},
			{"one", one + " part", nil, false},
			{"one-half", one + " part", func(r *store.Repository) bool { return r.ID%2 == 1 }, false},
			{"one-regexp", fmt.Sprintf(`repo:^git[^/]*/org%d/.*-%d$ part`, (n/2)%317, n/2), nil, false},
			{"one-commits", one + " type:commit part", nil, false},
			{"one-rev", one + "@main part", nil, false},
			{"org", "repo:github.com/org13/ quuxfrobnicate", nil, false},
			{"prefix", "repo:^github.com/org1 quuxfrobnicate", nil, false},
			{"without", "-repo:org13/ quuxfrobnicate", nil, false},
			{"every-name", "repo:github quuxfrobnicate", nil, false},
			{"forks", "fork:yes quuxfrobnicate", nil, false},
			{"only-forks", "fork:only quuxfrobnicate", nil, false},
			{"archived", "archived:yes quuxfrobnicate", nil, false},
			{"only-archived", "archived:only quuxfrobnicate", nil, false},
			{"private", "visibility:private quuxfrobnicate", nil, false},
			{"public", "visibility:public quuxfrobnicate", nil, false},
			{"commit", "type:commit quuxfrobnicate", nil, false},
			{"commit-uncommon", "type:commit uncommon", nil, false},
			{"commit-common", "type:commit count:10 begin", nil, false},
			{"diff", "type:diff quuxfrobnicate", nil, false},
			{"name", "type:repo repository-77", nil, false},
			{"rev", "repo:. rev:main quuxfrobnicate", nil, false},
			{"select", "select:repo uncommon", nil, false},
			{"count", "count:10 func", nil, false},
			{"count-names", "count:10 repository", nil, false},
			{"topic", "repo:has.topic(team-7) quuxfrobnicate", nil, false},
			{"topic-all", "repo:has.topic(all) quuxfrobnicate", nil, false},
			{"description", "repo:has.description(part.77) quuxfrobnicate", nil, false},
			{"meta", "repo:has.meta(team:team-7) quuxfrobnicate", nil, false},
			{"file", "repo:has.file(path:absent) quuxfrobnicate", nil, false},
			{"file-all", "repo:has.file(path:main) quuxfrobnicate", nil, false},
			{"content", "repo:has.content(uncommon) quuxfrobnicate", nil, false},
			{"commit-after", "repo:has.commit.after(2021-01-01) quuxfrobnicate", nil, false},
			{"or", "quuxfrobnicate or (-repo:org7 fork:yes quuxfrobnicat)", nil, false},
			{"symbol", "type:symbol quuxfrobnicate", nil, false},
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
					o := search.Options{Report: report.New(time.Now), Display: -1, Trace: &report.Trace{}, Visible: bb.visible, PublicVisible: bb.public}
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
