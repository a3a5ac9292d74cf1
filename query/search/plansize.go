package search

import "github.com/trawlsearch/trawl/postings"

// A query of thousands of patterns has thousands of sets for each shard, of up to
// 8 KiB each: 900 alternatives with path filters took 300 MB on the Linux tree.
// So what plans hold is bounded. Nothing but speed depends on it, and the order
// of such a query, which follows from the query and the lists all the same.
const (
	// planBytes is what the sets of one shard's plan may take, and plansFull how
	// many plans so large are made together.
	planBytes = 8 << 20
	plansFull = 4
	// atomBytes is what an atom holds in a plan at most: candidates in text and
	// path, a finder. basicBytes is what a basic query does.
	atomBytes  = 33 << 10
	basicBytes = 9 << 10
	// maxNames is how many words of a pass are looked for among the names of
	// symbols.
	maxNames = 64
)

// shardsTogether is how many shards may be planned before the first document is
// verified. It depends on the query alone, since the order does on it.
func (s *Searcher) shardsTogether(pass []*basic) int {
	bytes := 0
	for _, b := range pass {
		bytes += basicBytes + len(b.atoms)*atomBytes
	}
	return min(plansFull*max(s.set.PlanBytes/bytes, 1), shardsAtOnce)
}

// named are the basic queries of a pass, from the first on, whose words are looked
// for among names of symbols.
func named(pass []*basic) []*basic {
	names := 0
	for i, b := range pass {
		if names += len(b.names); i > 0 && names > maxNames {
			return pass[:i]
		}
	}
	return pass
}

// bytes is what the candidates of an atom take.
func (ap *atomPlan) bytes() int { return ap.content.Bytes() + ap.path.Bytes() }

// forget leaves of an atom of b that it may match anywhere.
func (ap *atomPlan) forget() {
	for _, c := range []*postings.Candidates{&ap.content, &ap.path} {
		if c.All || c.Docs.Len() > 0 {
			*c = postings.Candidates{All: true}
		}
	}
}

// settle counts what bp holds, and has it forget where its atoms may match when
// the plan holds more than room bytes already. Which documents are left is known
// by then.
func (p *shardPlan) settle(bp *basicPlan, room int) {
	for i := range bp.atoms {
		ap := &bp.atoms[i]
		if p.held += ap.bytes(); p.held > room {
			p.held -= ap.bytes()
			ap.forget()
		}
	}
	if bp.docs != nil {
		p.held += bp.docs.Bytes()
	}
}
