package search

import (
	"context"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// apart returns b as the searches it stands for: patterns are tried against
// names of symbols in one of their own, so that no document matches by a mix of
// its names and its text, and against commits in another.
func (b *basic) apart() []*basic {
	if b.commits != nil {
		return b.apartCommits()
	}
	if !b.symbols {
		return []*basic{b}
	}
	symbols, rest := *b, *b
	symbols.content, symbols.path, symbols.repos = false, false, false
	symbols.docs = b.tree != nil || len(b.paths)+len(b.owned)+len(b.contributors) > 0
	if !b.content && !b.path && !b.repos {
		return []*basic{&symbols}
	}
	rest.symbols = false
	return []*basic{&rest, &symbols}
}

// readSymbols is read for a search of symbols: the blocks of their lists are
// groups of names, those of atoms that only have to hold are of text. A shard
// whose symbols are not there has no candidates.
func (bp *basicPlan) readSymbols(ctx context.Context, v store.View, in *reading, b *basic, content, path *postings.Evaluator, brute bool) error {
	none := postings.Candidates{Docs: &postings.Set{}}
	for range b.atoms {
		bp.atoms = append(bp.atoms, atomPlan{content: none, path: none})
	}
	if !v.HasSymbols() {
		bp.docs = &postings.Set{}
		return nil
	}
	if brute {
		for i := range bp.atoms {
			bp.atoms[i].content = postings.Candidates{All: true}
		}
		return nil
	}
	inPaths, err := path.Eval(b.pathExpr())
	if err != nil {
		return err
	}
	if !inPaths.All {
		bp.docs = inPaths.Docs
	}
	names, err := in.symbols(v)
	if err != nil {
		return err
	}
	for i, a := range b.atoms {
		if err := in.yield(ctx); err != nil {
			return err
		}
		ev := names
		if a.silent {
			ev = content
		}
		if bp.atoms[i].content, err = ev.Eval(a.Expr); err != nil {
			return err
		}
	}
	bp.symbolCost = names.Cost
	bp.confine(b)
	return nil
}

// findSymbols finds the symbols of document i that make basic query k hold, and
// reports whether there are any.
func (v *verifier) findSymbols(k int, i uint16, path string) (bool, error) {
	b, state := v.pass[k], &v.basic[k]
	state.symbols, state.points = state.symbols[:0], 0
	names := &nameMatch{plan: v.plan, doc: i, groups: map[int][]store.Symbol{}, hits: make([][]nameHit, len(b.atoms)), looked: make([]bool, len(b.atoms))}
	take := func(hits []nameHit) {
		for _, h := range hits {
			kind := query.SymbolKindOf(h.Kind)
			state.symbols = append(state.symbols, query.Symbol{Name: h.Name, Kind: kind, Container: h.Container, Line: h.Line, Column: h.Column})
			state.points = max(state.points, h.points)
		}
	}
	holds := func(a int) bool {
		if b.atoms[a].silent {
			return v.holdsByText(k, a, i, path, names)
		}
		return len(names.find(a, b.atoms[a], &v.plan.basics[k].atoms[a].content)) > 0
	}
	if b.tree != nil && (!eval(b.tree, holds) || names.err != nil) {
		return false, names.err
	}
	if !slices.ContainsFunc(b.atoms, func(a *atom) bool { return !a.silent }) {
		// No name was asked for, but filters were.
		all, err := v.plan.view.Symbols(nil, i)
		for _, s := range all {
			take([]nameHit{{Symbol: s}})
		}
		return len(all) > 0, err
	}
	visitTrue(b.tree, holds, func(a int) {
		holds(a)
		take(names.hits[a])
	})
	return len(state.symbols) > 0, names.err
}

// holdsByText reports whether an atom holds for the document's text.
func (v *verifier) holdsByText(k, a int, i uint16, path string, names *nameMatch) bool {
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
	plan   *shardPlan
	doc    uint16
	groups map[int][]store.Symbol
	// hits are what was found for each atom, if it was looked for.
	hits   [][]nameHit
	looked []bool
	spans  []match.Span
	err    error
}

type nameHit struct {
	store.Symbol
	points float64
}

// find returns the symbols that atom number n matches.
func (m *nameMatch) find(n int, a *atom, c *postings.Candidates) []nameHit {
	if m.looked[n] || m.err != nil {
		return m.hits[n]
	}
	m.looked[n] = true
	if !c.All && !c.Docs.Contains(m.doc) {
		return nil
	}
	first, end := int(m.plan.docs.FirstBlock[m.doc]), int(m.plan.docs.FirstBlock[m.doc+1])
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

func (m *nameMatch) group(b int) []store.Symbol {
	group, ok := m.groups[b]
	if !ok && m.err == nil {
		group, m.err = m.plan.view.SymbolGroup(nil, uint16(b))
		m.groups[b] = group
	}
	return group
}

// match adds the symbols of a group that a matches.
func (m *nameMatch) match(n int, a *atom, group []store.Symbol) {
	for _, s := range group {
		var found bool
		if m.spans, found = a.Short(m.spans[:0], s.Name); !found {
			continue
		}
		points, factor := 0.0, kindFactor(s.Kind, s.Language, s.Name, m.plan.docs.Path(int(m.doc)))
		for _, span := range m.spans {
			found := definitionPoints(int(span.Start), int(span.End), s.Name, factor)
			points = max(points, found*caseShare(a.text(), s.Name[span.Start:span.End]))
		}
		m.hits[n] = append(m.hits[n], nameHit{s, points})
	}
}

// selectSymbols returns f with the symbols of the kind that select: names, all
// if it names none, and nothing else; nil if there are none.
func selectSymbols(f *query.FileMatch, sel []string) *query.FileMatch {
	out := *f
	out.Chunks, out.PathRanges = nil, nil
	if len(sel) > 1 {
		out.Symbols = slices.DeleteFunc(slices.Clone(f.Symbols), func(s query.Symbol) bool { return string(s.Kind) != sel[1] })
	}
	if len(out.Symbols) == 0 {
		return nil
	}
	return &out
}

// reportSymbols reports what a search of symbols cannot look at: shards whose
// symbols have not been read, and documents that could not be parsed.
func (r *run) reportSymbols() {
	pass := slices.DeleteFunc(slices.Clone(r.basics), func(b *basic) bool { return !b.symbols })
	missing, failed := 0, 0
	for _, v := range r.shards(pass) {
		switch {
		case r.shared[v.ID] && v.HasSymbols():
			// How many of them are of documents that may be told is not known.
		case v.HasSymbols():
			failed += v.Header.Symbols.Failed
		default:
			missing += r.documentsIn(v)
		}
	}
	missing += unparsed(pass)
	r.o.Report.Gaps().SymbolsMissing(missing)
	r.o.Report.Gaps().SymbolsFailed(failed)
}

// unparsed counts the files of revisions whose symbols nobody has read.
func unparsed(pass []*basic) (n int) {
	seen := map[*contents]bool{}
	for _, b := range pass {
		for _, t := range b.targets {
			for _, rev := range t.revs {
				if c := rev.contents; c != nil && !seen[c] {
					seen[c] = true
					n += len(c.rest)
				}
			}
		}
	}
	return n
}

// documentsIn counts the documents of a shard that exist for whoever searches.
func (r *run) documentsIn(v store.View) int {
	if !r.shared[v.ID] {
		return v.Header.Documents
	}
	docs, err := v.Documents()
	if err != nil {
		r.fail(v.ID, err)
		return 0
	}
	n := 0
	for i := range docs.Len() {
		repo := r.snap.RepositoryByID(docs.Repository[i])
		if repo != nil && r.o.Visible(repo) {
			n++
		}
	}
	return n
}
