package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
)

// oxen are 4,000 documents of one block with a match each.
func oxen() (files []doc) {
	text := fmt.Sprintf("ox %01000d\n", 0)
	for i := range 4000 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("d/f%d.go", i), text: text})
	}
	return files
}

// A search verifies with all processors, unless others want them: then it does
// what is to be sent next and no more. Its answer is the same.
func TestWorkersBesideOthers(t *testing.T) {
	files := oxen()
	c := newCorpus(t, 5000, nil, files)
	tests := []struct {
		others  int
		query   string
		workers string
		// most is how many documents may be verified for nothing, a group at most.
		most int
	}{
		{0, "ox count:200", "4", 600},
		{1, "ox count:200", "2", 512},
		{3, "ox count:200", "1", 1024},
		{50, "ox count:200", "1", 1024},
		{3, "ox count:all", "1", 4000},
		{3, "ox count:1", "1", 256},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s beside %d", tt.query, tt.others), func(t *testing.T) {
			want := c.search(t, search.Settings{Workers: 1}, search.Options{}, tt.query, query.Keyword)
			s := search.New(c.st, search.Settings{Workers: 4})
			s.Occupy(tt.others)
			q, err := syntax.Parse(tt.query, query.Keyword)
			if err != nil {
				t.Fatal(err)
			}
			var got answered
			trace := &report.Trace{}
			o := search.Options{Display: -1, Trace: trace, Report: report.New(time.Now)}
			got.outcome = s.Search(context.Background(), q, o, answer.SinkFunc(func(m []query.Match) error {
				got.matches = append(got.matches, m...)
				return nil
			}))
			if !slices.Equal(got.lines(), want.lines()) {
				t.Errorf("%d matches, want the same %d: %s", len(got.matches), len(want.matches), firstDifference(got.lines(), want.lines()))
			}
			verified := 0
			for _, step := range trace.Steps() {
				if step.Name != "verify" {
					continue
				}
				for _, f := range step.Fields {
					switch f.Key {
					case "workers":
						if f.Value != tt.workers {
							t.Errorf("%s workers, want %s", f.Value, tt.workers)
						}
					case "documents":
						_, _ = fmt.Sscan(f.Value, &verified)
					}
				}
			}
			if verified < len(want.matches) || verified > tt.most {
				t.Errorf("verified %d documents, want %d to %d", verified, len(want.matches), tt.most)
			}
		})
	}
}

// Texts that nobody looks at are no work: a search of paths wakes no workers for
// a hundred large files, and one of their text does.
func TestPathsAreLittleWork(t *testing.T) {
	var files []doc
	body := strings.Repeat("ox\n", 2000)
	for i := range 150 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("d/f%d.go", i), text: body, indexed: true})
	}
	c := newCorpus(t, 5000, nil, files)
	for text, want := range map[string]string{"type:path f": "1", "file:f": "1", "ox": "4", "file:f ox": "4"} {
		trace := &report.Trace{}
		got := c.search(t, search.Settings{Workers: 4}, search.Options{Trace: trace}, text+" count:all", query.Keyword)
		if len(got.matches) != len(files) {
			t.Errorf("%s: %d matches, want %d", text, len(got.matches), len(files))
		}
		for _, step := range trace.Steps() {
			if i := slices.IndexFunc(step.Fields, func(f report.Field) bool { return f.Key == "workers" }); i >= 0 && step.Fields[i].Value != want {
				t.Errorf("%s: %s workers, want %s", text, step.Fields[i].Value, want)
			}
		}
	}
}

// A search that panics is no longer at work, and has given its processor back. The
// panic of a sink reaches the caller, whichever goroutine sends.
func TestPanicEndsWork(t *testing.T) {
	for name, files := range map[string][]doc{"alone": {{repo: "r", path: "a", text: "ox"}}, "with workers": oxen()} {
		c := newCorpus(t, 40, nil, files)
		s := search.New(c.st, search.Settings{Workers: 2})
		_, free := s.AtWork()
		func() {
			defer func() {
				if got := recover(); got != "sink" {
					t.Errorf("%s: recovered %v, want the panic of the sink", name, got)
				}
			}()
			q, err := syntax.Parse("ox count:all", query.Keyword)
			if err != nil {
				t.Fatal(err)
			}
			s.Search(context.Background(), q, search.Options{Display: -1}, answer.SinkFunc(func([]query.Match) error { panic("sink") }))
		}()
		if searches, left := s.AtWork(); searches != 0 || left != free {
			t.Errorf("%s: %d searches are at work and %d slots are free, want 0 and %d", name, searches, left, free)
		}
	}
}

// TestWorkersNeedNoSlotOfTheSearch: a search that plans the next shards lets its
// workers verify those before, also when they have but one slot.
func TestWorkersNeedNoSlotOfTheSearch(t *testing.T) {
	files := oxen()
	c := newCorpus(t, 40, nil, files)
	s := search.New(c.st, search.Settings{Workers: 2, MaxTimeout: 10 * time.Minute})
	defer s.TakeSlot()()
	q, err := syntax.Parse("type:file ox count:all", query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	found := 0
	out := s.Search(ctx, q, search.Options{Display: -1}, answer.SinkFunc(func(m []query.Match) error {
		found += len(m)
		return nil
	}))
	if out.Err != nil || found != len(files) {
		t.Errorf("found %d of %d documents, and then %v", found, len(files), out.Err)
	}
}
