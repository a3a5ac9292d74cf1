package search

import (
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// reportNoText reports documents whose content could have matched and cannot
// be searched. An answer with results leaves them to the trace; one without may
// not look as if all had been read. Binary files and submodules have no text, so
// they are news only to a query that selects them by their paths.
func (r *run) reportNoText() {
	var asking []*basic
	for _, b := range r.basics {
		if b.docs && b.asked() > 0 && (b.content || b.symbols) {
			asking = append(asking, b)
		}
	}
	counts := map[store.Reason]int{}
	for _, v := range r.shards(asking) {
		v, looked := r.coverage.views[v.ID]
		if !looked {
			continue // which is told
		}
		docs, err := v.Documents()
		if err != nil {
			continue
		}
		p := &shardPlan{view: v, docs: docs, reach: make([]map[uint32]reach, len(asking))}
		for k := range asking {
			p.reach[k] = map[uint32]reach{}
		}
		for _, i := range docs.Unsearchable() {
			at := p.reachesOf(asking, docs.Repository[i])
			for k, b := range asking {
				if at[k].holds(i) && b.expectsText(docs.Reason[i]) && b.pathsHold(docs.Path(int(i))) {
					counts[docs.Reason[i]]++
					break
				}
			}
		}
	}
	for _, byReason := range r.coverage.unsearchable {
		for reason, n := range byReason {
			if slices.ContainsFunc(asking, func(b *basic) bool { return b.expectsText(reason) }) {
				counts[reason] += n
			}
		}
	}
	r.o.Report.Gaps().NoText(counts)
}

// expectsText reports whether b may expect text in a document without any.
func (b *basic) expectsText(why store.Reason) bool {
	return len(b.paths) > 0 || why != store.ReasonBinary && why != store.ReasonSubmodule
}

// pathsHold reports whether the path filters of b take a path.
func (b *basic) pathsHold(path string) bool {
	return !slices.ContainsFunc(b.paths, func(f pathFilter) bool { return !f.holds(path) })
}
