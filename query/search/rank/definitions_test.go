package rank

import (
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/shard"
)

// TestDamagedNamesKeepMatches: lists of names that lead beyond the shard cost the
// order, and no document that matches.
func TestDamagedNamesKeepMatches(t *testing.T) {
	var m shard.Memory
	m.Add(shard.Document{Path: "a.c"}, []byte("kiln"))
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := view.Documents()
	if err != nil {
		t.Fatal(err)
	}
	p := NewPlan(&shardplan.Plan{View: view, Docs: docs, Candidates: []uint16{0}})
	p.symbols, p.groups = &postings.Evaluator{}, map[string]*postings.Set{"kiln": postings.NewSet(9)}
	trace := &report.Trace{}
	w := &Window{
		task: &task.Task{Limits: task.Limits{Workers: 1}, Now: time.Now, Trace: trace}, Plans: []*Plan{p},
		queries: []*target.Query{{Query: &compile.Query{Terms: []compile.Term{{Text: "kiln"}}}}},
	}
	w.findDefinitions(t.Context(), nil, newRanker(w.task, w.queries, w.Plans))
	if steps := trace.Steps(); len(steps) != 1 || !strings.Contains(steps[0].Fields[0].Value, "panic") {
		t.Errorf("the trace has %v, want what failed", steps)
	}
	if got := p.Definitions.In(0); len(got) > 0 {
		t.Errorf("defined %v, want nothing", got)
	}
}
