package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// apart returns b as the searches it stands for: patterns are tried against
// names of symbols in one of their own, so that no document matches by a mix of
// its names and its text.
func (b *basic) apart() []*basic {
	if !b.symbols {
		return []*basic{b}
	}
	symbols, rest := *b, *b
	symbols.content, symbols.path, symbols.repos = false, false, false
	symbols.docs = b.tree != nil || len(b.paths) > 0
	if !b.content && !b.path && !b.repos {
		return []*basic{&symbols}
	}
	rest.symbols = false
	return []*basic{&rest, &symbols}
}

// readSymbols is read for a search of symbols: the numbers of their lists are
// documents. A shard whose symbols are not there has no candidates.
func (bp *basicPlan) readSymbols(v store.View, b *basic, path *postings.Evaluator, brute bool) error {
	none := postings.Candidates{Docs: &postings.Set{}}
	for range b.atoms {
		bp.atoms = append(bp.atoms, atomPlan{none, none})
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
	lists, err := v.SymbolLists()
	if err != nil {
		return err
	}
	names := &postings.Evaluator{Reader: lists, DocOf: path.DocOf}
	for i, a := range b.atoms {
		if bp.atoms[i].content, err = names.Eval(a.Expr); err != nil {
			return err
		}
	}
	bp.symbolCost = names.Cost
	bp.confine(b)
	return nil
}

// findSymbols finds the symbols of document i that make basic query k hold, and
// reports whether there are any.
func (v *verifier) findSymbols(k int, i uint16) (bool, error) {
	b, state := v.pass[k], &v.basic[k]
	state.symbols, state.points = state.symbols[:0], 0
	all, err := v.plan.view.Symbols(nil, i)
	if err != nil || len(all) == 0 {
		return false, err
	}
	names := &nameMatch{symbols: all, points: make([]float64, len(all))}
	if b.tree == nil {
		for n := range all {
			names.points[n] = 1
		}
	} else {
		atom := func(a int) bool {
			c := &v.plan.basics[k].atoms[a].content
			return (c.All || c.Docs.Contains(i)) && names.any(b.atoms[a])
		}
		if !eval(b.tree, atom) {
			return false, nil
		}
		visitTrue(b.tree, atom, func(a int) { names.mark(b.atoms[a]) })
	}
	for n, s := range all {
		if names.points[n] == 0 {
			continue
		}
		found := query.Symbol{Name: s.Name, Kind: query.SymbolKindOf(s.Kind), Container: s.Container, Line: s.Line, Column: s.Column}
		state.symbols = append(state.symbols, found)
		state.points = max(state.points, names.points[n]+kindWorth*kindFactor(found.Kind))
	}
	return len(state.symbols) > 0, nil
}

// nameMatch tries patterns against the names of one document.
type nameMatch struct {
	symbols []store.Symbol
	// points is 0 for a symbol that no pattern marked.
	points []float64
	spans  []match.Span
}

func (m *nameMatch) any(a *atom) bool {
	return slices.ContainsFunc(m.symbols, func(s store.Symbol) bool {
		_, found := a.Short(m.spans[:0], s.Name)
		return found
	})
}

// mark rates the symbols that a matches.
func (m *nameMatch) mark(a *atom) {
	for n, s := range m.symbols {
		var found bool
		if m.spans, found = a.Short(m.spans[:0], s.Name); !found {
			continue
		}
		m.points[n] = max(m.points[n], 1)
		for _, span := range m.spans {
			m.points[n] = max(m.points[n], pathScore(int(span.Start), int(span.End), len(s.Name)))
		}
	}
}

// kindWorth is what a step of kindFactor counts.
const kindWorth = 100

// kindFactor ranks kinds of symbols: what is named to be found comes first.
func kindFactor(k query.SymbolKind) float64 {
	switch k {
	case "class":
		return 10
	case "struct":
		return 9.5
	case "enum":
		return 9
	case "interface":
		return 8
	case "function", "method":
		return 7
	case "field":
		return 5.5
	case "constant":
		return 5
	case "variable":
		return 4
	}
	return 1
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

// addSymbols counts symbols by kind.
func (s *filterSet) addSymbols(symbols []query.Symbol) {
	s.symbols.Count += len(symbols)
	for _, sym := range symbols {
		if sym.Kind != "" {
			s.symbolKinds[sym.Kind]++
		}
	}
}

// symbolFilter labels a kind by its words, each with a capital: EnumMember.
func symbolFilter(kind query.SymbolKind, n int) query.SuggestedFilter {
	label := ""
	for word := range strings.SplitSeq(string(kind), "-") {
		label += upperFirst(word)
	}
	return query.SuggestedFilter{Value: "select:symbol." + string(kind), Label: label, Count: n, Kind: kindSymbol}
}

// tellSymbols records what a search of symbols cannot look at: shards whose
// symbols have not been read, and documents that could not be parsed.
func (r *run) tellSymbols() {
	pass := slices.DeleteFunc(slices.Clone(r.basics), func(b *basic) bool { return !b.symbols })
	missing, failed := 0, 0
	for _, v := range r.shards(pass) {
		if v.HasSymbols() {
			failed += v.Header.Symbols.Failed
			continue
		}
		missing += v.Header.Documents
	}
	if missing > 0 {
		r.complete = false
		r.o.Results.Unsearched(query.Skipped{
			Reason: "symbols-missing", Title: "symbols missing", Severity: "warn",
			Message: fmt.Sprintf("The symbols of %s have not been read yet, so results may be missing. "+
				"If that stays so, universal-ctags is not installed or symbols are switched off; the log of the server tells.", files(missing)),
		})
	}
	if failed > 0 {
		r.o.Results.Unsearched(query.Skipped{
			Reason: "symbols-failed", Title: files(failed) + " without symbols", Severity: "info",
			Message: fmt.Sprintf("The symbols of %s could not be read: the text is too large, or its parser too slow. Search for the text instead.", files(failed)),
		})
	}
}

// files writes a number of files.
func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return formatCount(n) + " files"
}
