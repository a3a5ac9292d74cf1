package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// searchCount searches and returns how many matches there were.
func searchCount(ctx context.Context, t *testing.T, s *search.Searcher, o search.Options, text string) (n int) {
	t.Helper()
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Error(err)
		return 0
	}
	o.Display = -1
	if out := s.Search(ctx, q, o, answer.SinkFunc(func(m []query.Match) error {
		n += len(m)
		return nil
	})); out.Err != nil {
		t.Errorf("search %q: %v", text, out.Err)
	}
	return n
}

// TestAllWorkTakesSlots: searches of commits, in the index and through git, and
// tests of files wait for a slot, and give it back.
func TestAllWorkTakesSlots(t *testing.T) {
	r := grownRepo(t, rand.New(rand.NewPCG(7, 7)), 40)
	for _, o := range []ingest.Options{{HistoryDiffs: ingest.AllHistory}, {HistoryDiffs: -1}} {
		c := r.indexed(t, o)
		for _, text := range []string{
			"type:diff glaze", "type:commit glaze", "type:diff glaze file:has.content(a)", "type:diff index:no glaze", "type:repo repo:has.content(glaze)",
		} {
			s := search.New(c.st, search.Settings{Workers: 2, DefaultTimeout: 10 * time.Minute, MaxTimeout: 10 * time.Minute})
			want := searchCount(t.Context(), t, s, search.Options{}, text)
			if want == 0 {
				t.Fatalf("%q finds nothing", text)
			}
			give := s.TakeSlots()
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if n := searchCount(t.Context(), t, s, search.Options{Asker: fmt.Sprint(i % 3)}, text); n != want {
						t.Errorf("%q: %d matches beside others, want %d", text, n, want)
					}
				})
			}
			s.WaitForSlots(20) // each has a goroutine that waits, so none has gone on without
			give()
			wg.Wait()
			if searches, free := s.AtWork(); searches != 0 || free != 2 {
				t.Errorf("%q: %d searches at work and %d slots free in the end, want 0 and 2", text, searches, free)
			}
		}
	}
}

// TestFewCommitsTakeOneWorker: a search of no more commits than a worker looks at
// without a break starts one, whatever the number of processors.
func TestFewCommitsTakeOneWorker(t *testing.T) {
	c := grownRepo(t, rand.New(rand.NewPCG(7, 7)), 40).indexed(t, ingest.Options{HistoryDiffs: ingest.AllHistory})
	trace := &report.Trace{}
	searchCount(t.Context(), t, search.New(c.st, search.Settings{Workers: 8}), search.Options{Trace: trace}, "type:diff index:only glaze")
	for _, step := range trace.Steps() {
		if step.Name == "verify commits" && !slices.Contains(step.Fields, report.Count("workers", 1)) && !slices.Contains(step.Fields, report.Count("commits", 0)) {
			t.Errorf("40 commits were looked at by others than one worker: %v", step.Fields)
		}
	}
}

// TestLargeContentWaitsForRoom: what git reads of large files for
// file:has.content is counted with the other large texts.
func TestLargeContentWaitsForRoom(t *testing.T) {
	r := loggedRepo{t, filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("", "init", "-q", "-b", "main")
	for i, text := range []string{strings.Repeat("slip glaze\n", 3<<20/11), strings.Repeat("slip glaze\n", 3<<20/11) + "kiln\n"} {
		if err := os.WriteFile(filepath.Join(r.dir, "big"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r.git("", "add", "-A")
		r.git("", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", fmt.Sprint(i))
	}
	c := r.indexed(t, ingest.Options{})
	s := search.New(c.st, search.Settings{})
	const text = "type:diff kiln file:has.content(glaze)"
	give, err := c.st.Budget().ReserveText(c.st.Budget().TextLimit(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := searchCount(t.Context(), t, s, search.Options{}, text+" timeout:300ms"); n != 0 {
		t.Errorf("%d matches in a file of 3 MiB while there is no memory for it", n)
	}
	give()
	if n := searchCount(t.Context(), t, s, search.Options{}, text); n != 1 {
		t.Errorf("%d matches once there is memory, want 1", n)
	}
	if held := c.st.Metrics().LargeBytes; held != 0 {
		t.Errorf("%d bytes of room are held in the end", held)
	}
	if _, err := c.st.Budget().ReserveText(shard.LargeTextBytes, nil); err != nil || c.st.Metrics().LargeBytes != 0 {
		t.Errorf("a small text takes %d bytes of room: %v", c.st.Metrics().LargeBytes, err)
	}
}
