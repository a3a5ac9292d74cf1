package search

import (
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// TestDamagedNamesKeepMatches: lists of names that lead beyond the shard cost the
// order, and no document that matches.
func TestDamagedNamesKeepMatches(t *testing.T) {
	var m store.MemoryShard
	m.Add(store.Document{Path: "a.c"}, []byte("kiln"))
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := view.Documents()
	if err != nil {
		t.Fatal(err)
	}
	p := &shardPlan{view: view, docs: docs, candidates: []uint16{0}, symbols: &postings.Evaluator{}, names: map[string]*postings.Set{"kiln": postings.NewSet(9)}}
	trace := &report.Trace{}
	r := &run{Searcher: &Searcher{set: Settings{Now: time.Now, Workers: 1}}, o: Options{Trace: trace}}
	r.findDefinitions(t.Context(), nil, []*basic{{names: []term{{text: "kiln"}}}}, []*shardPlan{p})
	if steps := trace.Steps(); len(steps) != 2 || !strings.Contains(steps[0].Fields[0].Value, "panic") {
		t.Errorf("the trace has %v, want what failed and the step", steps)
	}
	if got := p.defined(0); len(got) > 0 {
		t.Errorf("defined %v, want nothing", got)
	}
}
