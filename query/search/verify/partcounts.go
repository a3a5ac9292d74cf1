package verify

import (
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
)

// countParts sets the counts that m would have if only the text, or only the path,
// of the document at hand were searched, as type:file and type:path do.
func (v *Verifier) countParts(m partCounts, basics []int) partCounts {
	var spans []match.Span
	for _, k := range basics {
		b := v.Queries[k]
		if b.InSymbols {
			continue
		}
		if b.Patterns == nil {
			m.path = m.path || b.InPath // only filters were asked
			continue
		}
		state := &v.basic[k]
		inText := func(a int) bool { return state.atoms[a].inText }
		if b.InContent && compile.Eval(b.Tree, inText) {
			m.text = max(m.text, 1)
			compile.VisitTrue(b.Tree, inText, func(a int) {
				if !b.Atoms[a].Silent {
					spans = append(spans, state.atoms[a].text...)
				}
			})
		}
		m.path = m.path || b.InPath && compile.Eval(b.Tree, func(a int) bool {
			if b.Atoms[a].Silent {
				return state.atoms[a].inText
			}
			return state.atoms[a].inPath
		})
	}
	m.text = max(m.text, len(match.Merge(spans)))
	return m
}

// partCounts are the results of a document by its text alone, and whether its
// path alone matches.
type partCounts struct {
	text int
	path bool
}

// partsOf is countParts for the match at hand. If no pattern is found in the path,
// the counts of the text are those of the match.
func (v *Verifier) partsOf(basics []int, spans int) partCounts {
	if !v.pathFound(basics) {
		return partCounts{text: max(spans, 1)}
	}
	return v.countParts(partCounts{}, basics)
}

func (v *Verifier) pathFound(basics []int) bool {
	for _, k := range basics {
		if v.Queries[k].Patterns == nil || v.Queries[k].InSymbols {
			return true
		}
		for a := range v.basic[k].atoms {
			if v.basic[k].atoms[a].inPath {
				return true
			}
		}
	}
	return false
}
