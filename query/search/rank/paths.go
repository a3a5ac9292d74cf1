package rank

import (
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/target"
)

// maxPaths is how many paths are found to hold a pattern, and looked at in vain of
// one shard.
const maxPaths = 4096

// findPaths looks for documents that are called like a pattern, or as the path
// filters of a query without patterns say.
func (r *ranker) findPaths(k int, b *target.Query) {
	if b.Tree == nil && len(b.Paths) == 0 || b.Tree != nil && !b.InPath {
		return
	}
	var spans []match.Span
	for n, p := range r.plans {
		if p == nil {
			continue
		}
		missed := 0 // of this shard: that lists are too generous is no matter of others
		left := func() bool { return r.paths < maxPaths && missed < maxPaths }
		look := func(m *match.Matcher, doc uint16) {
			path := p.Docs.Path(int(doc))
			if spans, _ = m.Short(spans[:0], path); len(spans) == 0 {
				missed++
				return
			}
			r.paths++
			if points := score.PathPoints(path, spans); points >= score.BaseInside {
				r.at(n, doc).path += b.Share * points
			}
		}
		for a, at := range b.Atoms {
			c := &p.Basics[k].Atoms[a].Path
			if at.Silent || at.Negated || c.All {
				continue
			}
			for doc := range c.Docs.All() {
				if left() && r.candidates[n] != nil && r.candidates[n].contains(doc) {
					look(at.Matcher, doc)
				}
			}
		}
		if b.Tree != nil {
			continue
		}
		for f := range b.Paths {
			pf := &b.Paths[f]
			for _, doc := range p.Candidates {
				if left() && pf.HasSpans() {
					look(pf.Matcher, doc)
				}
			}
		}
	}
}
