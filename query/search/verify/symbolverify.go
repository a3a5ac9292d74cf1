package verify

import (
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/store/shard"
)

// findSymbols finds the symbols of document i that make basic query k hold, and
// reports whether there are any.
func (v *Verifier) findSymbols(k int, i uint16, path string) (bool, error) {
	b, state := v.Queries[k], &v.basic[k]
	state.symbols, state.points = state.symbols[:0], 0
	names := &nameMatch{plan: v.Plan, doc: i, groups: map[int][]shard.Symbol{}, hits: make([][]nameHit, len(b.Atoms)), looked: make([]bool, len(b.Atoms))}
	take := func(hits []nameHit) {
		for _, h := range hits {
			kind := query.SymbolKindOf(h.Kind)
			state.symbols = append(state.symbols, query.Symbol{Name: h.Name, Kind: kind, Container: h.Container, Line: h.Line, Column: h.Column})
			state.points = max(state.points, h.points)
		}
	}
	holds := func(a int) bool {
		if b.Atoms[a].Silent {
			return v.holdsByText(k, a, i, path, names)
		}
		return len(names.find(a, b.Atoms[a], &v.Plan.Basics[k].Atoms[a].Content)) > 0
	}
	if b.Tree != nil && (!compile.Eval(b.Tree, holds) || names.err != nil) {
		return false, names.err
	}
	if !slices.ContainsFunc(b.Atoms, func(a *compile.Atom) bool { return !a.Silent }) {
		// No name was asked for, but filters were.
		all, err := v.Plan.View.Symbols(nil, i)
		for _, s := range all {
			take([]nameHit{{Symbol: s}})
		}
		return len(all) > 0, err
	}
	compile.VisitTrue(b.Tree, holds, func(a int) {
		holds(a)
		take(names.hits[a])
	})
	return len(state.symbols) > 0, names.err
}

// holdsByText reports whether an atom holds for the document's text.
func (v *Verifier) holdsByText(k, a int, i uint16, path string, names *nameMatch) bool {
	if names.looked[a] {
		return v.basic[k].atoms[a].inText
	}
	names.looked[a] = true
	s := &v.basic[k].atoms[a]
	*s = atomState{text: s.text[:0], path: s.path[:0]}
	if _, err := v.atom(k, a, i, path); err != nil {
		names.err = err
	}
	return s.inText
}

// nameMatch tries patterns against the names of one document. Groups of names
// are read when a pattern may match in them, and once.
type nameMatch struct {
	plan   *shardplan.Plan
	doc    uint16
	groups map[int][]shard.Symbol
	// hits are what was found for each atom, if it was looked for.
	hits   [][]nameHit
	looked []bool
	spans  []match.Span
	err    error
}

type nameHit struct {
	shard.Symbol
	points float64
}

// find returns the symbols that atom number n matches.
func (m *nameMatch) find(n int, a *compile.Atom, c *postings.Candidates) []nameHit {
	if m.looked[n] || m.err != nil {
		return m.hits[n]
	}
	m.looked[n] = true
	if !c.All && !c.Docs.Contains(m.doc) {
		return nil
	}
	first, end := int(m.plan.Docs.FirstBlock[m.doc]), int(m.plan.Docs.FirstBlock[m.doc+1])
	if c.Blocks == nil {
		for b := first; b < end; b++ {
			group := m.group(b)
			if len(group) == 0 {
				break // groups take the first numbers
			}
			m.match(n, a, group)
		}
		return m.hits[n]
	}
	for _, b := range c.Blocks.AppendRange(nil, first, end) {
		m.match(n, a, m.group(int(b)))
	}
	return m.hits[n]
}

func (m *nameMatch) group(b int) []shard.Symbol {
	group, ok := m.groups[b]
	if !ok && m.err == nil {
		group, m.err = m.plan.View.SymbolGroup(nil, uint16(b))
		m.groups[b] = group
	}
	return group
}

// match adds the symbols of a group that a matches.
func (m *nameMatch) match(n int, a *compile.Atom, group []shard.Symbol) {
	for _, s := range group {
		var found bool
		if m.spans, found = a.Short(m.spans[:0], s.Name); !found {
			continue
		}
		points, factor := 0.0, score.KindFactor(s.Kind, s.Language, s.Name, m.plan.Docs.Path(int(m.doc)))
		for _, span := range m.spans {
			found := score.DefinitionPoints(int(span.Start), int(span.End), s.Name, factor)
			points = max(points, found*score.CaseShare(a.Text(), s.Name[span.Start:span.End]))
		}
		m.hits[n] = append(m.hits[n], nameHit{s, points})
	}
}
