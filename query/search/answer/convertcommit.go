package answer

import (
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/diff"
)

func (c *converter) convertCommit(dst []query.Match, m *query.CommitMatch) []query.Match {
	switch {
	case c.selects("commit", "diff", "added"):
		m = selectChanged(m, diff.Added)
	case c.selects("commit", "diff", "removed"):
		m = selectChanged(m, diff.Removed)
	case c.selects("commit", "diff") && !m.IsDiff, len(c.path) > 0 && !c.selects("commit"):
		m = nil
	}
	if m == nil {
		return dst
	}
	return c.earlier.appendRestOfCommit(dst, m)
}

// selectChanged returns m with the ranges on lines that were added or removed,
// as kind says; nil if there are none. A diff in which no changed line has a
// range was found without a pattern, and is kept if it has any such line.
func selectChanged(m *query.CommitMatch, kind diff.Kind) *query.CommitMatch {
	if !m.IsDiff {
		return nil
	}
	out := *m
	out.Ranges = nil
	exists, patterned := false, false
	ranges, line := m.Ranges, uint32(0)
	for b := diff.ReadBody(m.Body); b.Next(); line++ {
		exists = exists || b.Kind == kind
		for ; len(ranges) > 0 && ranges[0].Start.Line == line; ranges = ranges[1:] {
			patterned = patterned || b.Kind == diff.Added || b.Kind == diff.Removed
			if b.Kind == kind {
				out.Ranges = append(out.Ranges, ranges[0])
			}
		}
	}
	if patterned && len(out.Ranges) == 0 || !exists {
		return nil
	}
	return &out
}
