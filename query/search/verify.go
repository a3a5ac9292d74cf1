package search

import (
	"errors"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// verifier confirms documents of one pass, one after the other. It belongs to
// one goroutine.
type verifier struct {
	pass    []*basic
	context int
	brute   bool
	debug   bool

	plan  *shardPlan
	text  *store.Text
	doc   match.Text
	basic []basicState

	// work done, for traces
	docs, bytes int
}

// basicState is what is known about the document at hand for one basic query.
type basicState struct {
	atoms []atomState
	// symbols are those found, and points their best score.
	symbols []query.Symbol
	points  float64
}

type atomState struct {
	looked         bool
	inText, inPath bool
	text, path     []match.Span
}

func newVerifier(pass []*basic, o Options, brute bool) *verifier {
	v := &verifier{pass: pass, context: o.ContextLines, brute: brute, debug: o.Debug, basic: make([]basicState, len(pass))}
	for i, b := range pass {
		v.basic[i].atoms = make([]atomState, len(b.atoms))
	}
	return v
}

// close releases the text at hand.
func (v *verifier) close() error {
	if v.text == nil {
		return nil
	}
	err := v.text.Close()
	v.text = nil
	return err
}

// use makes p the shard at hand.
func (v *verifier) use(p *shardPlan) error {
	if v.plan == p {
		return nil
	}
	err := v.close()
	v.plan, v.text = p, p.view.Text()
	return err
}

// goTo makes document i the one at hand and returns its path.
func (v *verifier) goTo(i uint16) (path string) {
	docs := v.plan.docs
	v.docs++
	first, last := docs.FirstBlock[i], docs.FirstBlock[i+1]
	v.doc.Reset(v.text, docs.TextStart[i], int(docs.TextBytes[i]), v.plan.view.Newlines()[first:last])
	return docs.Path(int(i))
}

// verify returns the match of document i, or nil.
func (v *verifier) verify(i uint16) (*query.FileMatch, error) {
	p := v.plan
	path := v.goTo(i)
	var m *query.FileMatch
	var spans []match.Span
	hits := 0
	for k, b := range v.pass {
		t := b.targets[p.docs.Repository[i]]
		if t == nil || p.basics[k].docs != nil && !p.basics[k].docs.Contains(i) {
			continue
		}
		holds, err := v.holds(k, i, path)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		if m == nil {
			m = &query.FileMatch{
				Repo: t.shown, Path: path, Commit: t.stored.Commit(), Rev: t.rev,
				Language: p.docs.Words[p.docs.Language[i]],
			}
		}
		n, err := v.gather(k, i, path, m, &spans)
		if err != nil {
			return nil, err
		}
		hits += n
	}
	v.bytes += v.doc.BytesRead
	v.doc.BytesRead = 0
	if m == nil {
		return nil, nil
	}
	return m, v.complete(m, match.Merge(spans), hits)
}

// holds reports whether basic query k holds for the document.
func (v *verifier) holds(k int, i uint16, path string) (bool, error) {
	b := v.pass[k]
	for f := range b.paths {
		if !b.paths[f].holds(path) {
			return false, nil
		}
	}
	if !b.ownersHold(v.plan.docs.Repository[i], path) {
		return false, nil
	}
	if b.symbols {
		return v.findSymbols(k, i, path)
	}
	if b.tree == nil {
		return true, nil
	}
	for a := range v.basic[k].atoms {
		s := &v.basic[k].atoms[a]
		*s = atomState{text: s.text[:0], path: s.path[:0]}
	}
	var failed error
	ok := eval(b.tree, func(a int) bool {
		s, err := v.atom(k, a, i, path)
		if err != nil {
			failed = err
		}
		return s.inText || s.inPath
	})
	return ok, failed
}

// atom looks for one atom in the document, once.
func (v *verifier) atom(k, a int, i uint16, path string) (*atomState, error) {
	s, at, p := &v.basic[k].atoms[a], v.pass[k].atoms[a], &v.plan.basics[k].atoms[a]
	if s.looked {
		return s, nil
	}
	s.looked = true
	if p.path.All || p.path.Docs.Contains(i) {
		s.path, s.inPath = at.Short(s.path, path)
	}
	if v.plan.docs.Reason[i] != store.Searchable || !p.content.All && !p.content.Docs.Contains(i) {
		return s, nil
	}
	var err error
	if v.brute {
		var all []byte
		if all, err = v.doc.All(); err == nil {
			s.text, s.inText = at.Brute(s.text, all)
		}
		return s, err
	}
	h := match.Hint{Anchor: p.content.Anchor}
	if p.content.Blocks != nil {
		first, last := int(v.plan.docs.FirstBlock[i]), int(v.plan.docs.FirstBlock[i+1])
		h.Blocks = p.content.Blocks.AppendRange([]uint16{}, first, last)
		for j := range h.Blocks {
			h.Blocks[j] -= uint16(first)
		}
	}
	s.text, s.inText, err = at.Find(s.text, &v.doc, h)
	return s, err
}

// gather adds what makes basic query k hold to m and spans, and returns how
// many atoms did.
func (v *verifier) gather(k int, i uint16, path string, m *query.FileMatch, spans *[]match.Span) (hits int, err error) {
	b := v.pass[k]
	if b.symbols {
		m.Symbols = query.SortSymbols(append(m.Symbols, v.basic[k].symbols...))
		m.Score = max(m.Score, v.basic[k].points)
		return 0, nil
	}
	if b.tree != nil {
		var failed error
		ask := func(a int) bool {
			s, err := v.atom(k, a, i, path)
			failed = errors.Join(failed, err)
			return s.inText || s.inPath
		}
		visitTrue(b.tree, ask, func(a int) {
			ask(a)
			if b.atoms[a].silent {
				return
			}
			s := &v.basic[k].atoms[a]
			*spans = append(*spans, s.text...)
			m.PathRanges = match.ShortRanges(m.PathRanges, path, s.path)
			hits++
		})
		if failed != nil {
			return 0, failed
		}
	}
	for f := range b.paths {
		if pf := &b.paths[f]; !pf.negated {
			found, _ := pf.Short(nil, path)
			m.PathRanges = match.ShortRanges(m.PathRanges, path, found)
		}
	}
	return hits, nil
}

// complete adds chunks and score.
func (v *verifier) complete(m *query.FileMatch, spans []match.Span, hits int) error {
	b := v.pass[0]
	if len(b.sel) > 0 && b.sel[0] != "content" {
		// Only that there is content matters.
		spans = spans[:min(len(spans), 1)]
	}
	if len(spans) > b.limit {
		spans = spans[:b.limit]
	}
	var err error
	if m.Chunks, err = match.Chunks(&v.doc, spans, v.context); err != nil {
		return err
	}
	phrase := ""
	for _, b := range v.pass {
		if b.phrase != "" {
			phrase = b.phrase
		}
	}
	s := scorer{phrase: phrase, caseSensitive: b.caseSensitive}
	m.Score = max(m.Score, s.file(m, hits))
	if v.debug {
		m.Debug = s.explain()
	}
	return nil
}

// blocksOf counts the candidate blocks of a plan, for traces.
func (p *shardPlan) blocksOf() int {
	n := 0
	for _, b := range p.basics {
		for _, a := range b.atoms {
			if a.content.Blocks != nil {
				n += a.content.Blocks.Len()
			} else if a.content.All {
				n += len(p.view.DocOf())
			} else {
				n += blocksOfDocs(p.docs, a.content.Docs)
			}
		}
	}
	return n
}

func blocksOfDocs(docs *store.Documents, set *postings.Set) int {
	n := 0
	for d := range set.All() {
		n += int(docs.FirstBlock[d+1] - docs.FirstBlock[d])
	}
	return n
}
