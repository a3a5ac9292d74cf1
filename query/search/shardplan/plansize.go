package shardplan

import (
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/target"
)

// A query of thousands of patterns has thousands of sets for each shard, of up to
// 8 KiB each: 900 alternatives with path filters took 300 MB on the Linux tree.
// So what plans hold is bounded. Nothing but speed depends on it, and the order
// of such a query, which follows from the query and the lists all the same.
const (
	// DefaultBytes is what the sets of one shard's plan may take, and plansFull how
	// many plans so large are made together.
	DefaultBytes = 8 << 20
	FullPlans    = 4
	// atomBytes is what an atom holds in a plan at most: candidates in text and
	// path, a finder. basicBytes is what a basic query does.
	atomBytes  = 33 << 10
	basicBytes = 9 << 10
)

// Together is how many shards may be planned before the first document is
// verified. It depends on the query alone, since the order does on it.
func Together(planBytes int, pass []*target.Query) int {
	bytes := 0
	for _, b := range pass {
		bytes += basicBytes + len(b.Atoms)*atomBytes
	}
	return min(FullPlans*max(planBytes/bytes, 1), MostTogether)
}

// bytes is what the candidates of an atom take.
func (ap *Atom) bytes() int { return ap.Content.Bytes() + ap.Path.Bytes() }

// forget leaves of an atom of b that it may match anywhere.
func (ap *Atom) forget() {
	for _, c := range []*postings.Candidates{&ap.Content, &ap.Path} {
		if c.All || c.Docs.Len() > 0 {
			*c = postings.Candidates{All: true}
		}
	}
}

// settle counts what bp holds, and has it forget where its atoms may match when
// the plan holds more than room bytes already. Which documents are left is known
// by then.
func (p *Plan) settle(bp *Basic, room int) {
	for i := range bp.Atoms {
		ap := &bp.Atoms[i]
		if p.held += ap.bytes(); p.held > room {
			p.held -= ap.bytes()
			ap.forget()
		}
	}
	if bp.Docs != nil {
		p.held += bp.Docs.Bytes()
	}
}

// MostTogether is of how many shards the best documents come first. All of them
// may have to be planned for that, a fraction of a millisecond a shard; the bound
// is on time to the first match and on memory.
const MostTogether = 32
