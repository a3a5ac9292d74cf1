package shardplan

import (
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/target"
)

// A query of thousands of patterns has thousands of sets for each shard, of up to
// 8 KiB each: 900 alternatives with path filters took 300 MB on the Linux tree.
// So the memory of plans is bounded. Only speed depends on the bound, and the
// order of such a query, which still follows from the query and the lists.
const (
	// DefaultBytes bounds the sets of one shard's plan, and fullPlans is how many
	// plans so large are made together.
	DefaultBytes = 8 << 20
	fullPlans    = 4
	// atomBytes is the most that an atom holds in a plan: candidates in text and
	// path, a finder. basicBytes is the most of a basic query.
	atomBytes  = 33 << 10
	basicBytes = 9 << 10
)

// Together is how many shards may be planned before the first document is
// verified. It depends on the query alone, since the order does on it.
func Together(planBytes int, queries []*target.Query) int {
	bytes := 0
	for _, b := range queries {
		bytes += basicBytes + len(b.Atoms)*atomBytes
	}
	return min(fullPlans*max(planBytes/bytes, 1), MostTogether)
}

// bytes returns the size of the candidates of an atom.
func (ap *Atom) bytes() int { return ap.Content.Bytes() + ap.Path.Bytes() }

// forget drops the candidates of an atom, which may match anywhere then.
func (ap *Atom) forget() {
	for _, c := range []*postings.Candidates{&ap.Content, &ap.Path} {
		if c.All || c.Docs.Len() > 0 {
			*c = postings.Candidates{All: true}
		}
	}
}

// limitSize counts the bytes of bp. Once the plan holds more than limit bytes, atoms
// forget where they may match; the documents that are left are known by then.
func (p *Plan) limitSize(bp *Basic, limit int) {
	for i := range bp.Atoms {
		ap := &bp.Atoms[i]
		if p.held += ap.bytes(); p.held > limit {
			p.held -= ap.bytes()
			ap.forget()
		}
	}
	if bp.Docs != nil {
		p.held += bp.Docs.Bytes()
	}
}

// MostTogether is the most shards of a window. All of them may have to be planned
// before the first match, a fraction of a millisecond each: the bound is on time and
// on memory.
const MostTogether = 32
