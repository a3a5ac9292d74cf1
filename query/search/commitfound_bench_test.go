package search_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// BenchmarkCommitFound is a changed file of one repository in a store of many, until a
// search finds what it says, but for git and the disk.
func BenchmarkCommitFound(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		c := manyCorpus(b, n, 0)
		s := search.New(c.st, search.Settings{})
		i := 0
		b.Run(fmt.Sprintf("repos=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i++
				word := fmt.Sprintf("xadded_%06d_here", i)
				w := c.st.NewShardWriter()
				w.Loan = shard.LeastLoan
				id := uint32(i*7%n + 1)
				if err := w.AddDocument(shard.Document{Repository: id, Path: "main.go", OID: make([]byte, 20), Mode: 0o100644, Language: "Go"}, []byte(word+"\n"), true); err != nil {
					b.Fatal(err)
				}
				h, err := w.Finish(context.Background())
				w.Close()
				if err != nil {
					b.Fatal(err)
				}
				sn := c.st.Snapshot()
				r := *sn.RepositoryByID(id)
				if err := sn.Close(); err != nil {
					b.Fatal(err)
				}
				r.Shards = append([]uint32{}, h.ID)
				r.Generation++
				if err := c.st.Commit(store.Change{Repositories: []*store.Repository{&r}, Add: []shard.Header{h}}); err != nil {
					b.Fatal(err)
				}
				q, err := syntax.Parse("fork:yes archived:yes "+word, query.Keyword)
				if err != nil {
					b.Fatal(err)
				}
				found := 0
				s.Search(context.Background(), q, search.Options{Display: -1, Report: report.New(time.Now)}, answer.SinkFunc(func(m []query.Match) error { found += len(m); return nil }))
				if found != 1 {
					b.Fatalf("%d matches of %s, want 1", found, word)
				}
			}
		})
	}
}
