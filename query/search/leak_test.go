package search_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

const (
	churnRepos  = 2
	churnDocs   = 40
	churnStable = 10
)

// churn is a store whose repositories are switched to a new generation again
// and again. Every document of a generation says which one it belongs to,
// except some that stay the same.
type churn struct {
	st         *store.Store
	repos      [churnRepos]store.Repository
	generation uint64
	// shards are those in use, with their documents; each begins with the
	// stable ones, if it has them.
	shards map[uint32]churnShard
}

type churnShard struct{ documents, stable int }

// next commits a generation. A whole one writes everything anew and drops what
// was there; the others mark the old documents dead and leave the stable ones
// where they are.
func (c *churn) next(t testing.TB, whole bool) {
	c.generation++
	var change store.Change
	change.Dead = map[uint32]*postings.Set{}
	if whole {
		for id := range c.shards {
			change.Drop = append(change.Drop, id)
		}
		c.shards = map[uint32]churnShard{}
	}
	for id, s := range c.shards {
		dead := &postings.Set{}
		for i := s.stable; i < s.documents; i++ {
			dead.Add(uint16(i))
		}
		change.Dead[id] = dead
	}
	w := c.st.NewShardWriter()
	defer w.Close()
	for part := range 2 {
		n, stable := 0, 0
		add := func(r int, path, text string) {
			n++
			d := shard.Document{Repository: c.repos[r].ID, Path: path, OID: make([]byte, 20), Mode: 0o100644}
			if err := w.AddDocument(d, []byte(text), n%7 != 0); err != nil {
				t.Fatal(err)
			}
		}
		for r := range c.repos {
			for i := range churnStable {
				if whole && part == 0 {
					add(r, fmt.Sprint("same", i), "stable\n")
					stable++
				}
			}
		}
		for r := range c.repos {
			for i := part * churnDocs / 2; i < (part+1)*churnDocs/2; i++ {
				add(r, fmt.Sprint("new", i), fmt.Sprintf("generation %d.\n", c.generation))
			}
		}
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change.Add = append(change.Add, h)
		c.shards[h.ID] = churnShard{n, stable}
	}
	for i := range c.repos {
		r := c.repos[i]
		r.Generation, r.Shards = c.generation, nil
		for id := range c.shards {
			r.Shards = append(r.Shards, id)
		}
		change.Repositories = append(change.Repositories, &r)
	}
	if err := c.st.Commit(change); err != nil {
		t.Fatal(err)
	}
}

func newChurn(t testing.TB) *churn {
	st, err := store.Open("data", store.Options{FS: vfs.NewMem(), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It fails when a search left a snapshot open.
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &churn{st: st, shards: map[uint32]churnShard{}}
	for i := range c.repos {
		r, err := st.Repositories().New(store.Repository{Name: fmt.Sprint("r", i)})
		if err != nil {
			t.Fatal(err)
		}
		c.repos[i] = *r
	}
	c.next(t, true)
	return c
}

// checkMoment tells what is wrong with an answer to "generation or stable",
// and the generation it shows.
func checkMoment(matches []query.Match) (generation string, err error) {
	stable, stamped := 0, 0
	seen := map[string]bool{}
	for _, m := range matches {
		f := m.(*query.FileMatch)
		key := f.Repo.Name + " " + f.Path
		if seen[key] {
			return "", fmt.Errorf("%s comes twice", key)
		}
		seen[key] = true
		text := string(f.Chunks[0].Content)
		switch {
		case text == "stable\n":
			stable++
		case generation == "":
			generation = text
			fallthrough
		case text == generation:
			stamped++
		default:
			return "", fmt.Errorf("%q beside %q", text, generation)
		}
	}
	if stable != churnRepos*churnStable || stamped != churnRepos*churnDocs {
		return "", fmt.Errorf("%d stable documents and %d of %q", stable, stamped, generation)
	}
	return generation, nil
}

// While generations change, every search sees one moment: never two
// generations, never a part of one.
func TestSearchesSeeOneMoment(t *testing.T) {
	c := newChurn(t)
	q, err := syntax.Parse("type:file (generation or stable) count:all", query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	// Each searcher searches once before the first change, then all the while,
	// and once after the last, so that it sees two moments at least.
	const searches, changes = 32, 12
	var changed atomic.Bool
	var wg, begun sync.WaitGroup
	begun.Add(searches)
	var mu sync.Mutex
	moments := map[string]bool{}
	for i := range searches {
		wg.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first()
			s := search.New(c.st, search.Settings{Workers: 1 + i%3, Brute: i%8 == 0})
			for last := false; !last; {
				last = changed.Load()
				var found []query.Match
				results := report.New(time.Now)
				out := s.Search(context.Background(), q, search.Options{Display: -1, Report: results}, answer.SinkFunc(func(m []query.Match) error {
					found = append(found, m...)
					return nil
				}))
				p := results.Progress()
				if out != (search.Outcome{}) || len(p.Skipped) > 0 {
					t.Errorf("search %d: got %+v, skipped %+v", i, out, p.Skipped)
					return
				}
				generation, err := checkMoment(found)
				if err != nil {
					t.Errorf("search %d: %v", i, err)
					return
				}
				mu.Lock()
				moments[generation] = true
				mu.Unlock()
				first()
			}
		})
	}
	begun.Wait()
	for i := range changes {
		c.next(t, i%3 == 2)
	}
	changed.Store(true)
	wg.Wait()
	if len(moments) < 2 {
		t.Errorf("saw only %d moments of %d", len(moments), c.generation)
	}
}

// A search lets go of its snapshot and its goroutines however it ends; the
// store's Close and TestMain say so if not.
func TestNothingIsLeftOpen(t *testing.T) {
	c := wideCorpus(t)
	q, err := syntax.Parse("type:file ox", query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	s := search.New(c.st, search.Settings{Workers: 4})
	for i := range 40 {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		func() {
			defer func() {
				if p := recover(); p != nil && p != "sink" {
					panic(p)
				}
			}()
			s.Search(ctx, q, search.Options{Display: -1}, answer.SinkFunc(func([]query.Match) error {
				if n++; n <= i/4 {
					return nil
				}
				switch i % 4 {
				case 0:
					cancel()
				case 1:
					return context.Canceled
				case 2:
					panic("sink")
				}
				return fmt.Errorf("batch %d", n)
			}))
		}()
		cancel()
	}
}
