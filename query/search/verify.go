package search

import (
	"context"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/store"
)

// verifier confirms documents of one pass, one after the other. It belongs to
// one goroutine.
type verifier struct {
	pass    []*basic
	context int
	brute   bool
	debug   bool

	plan   *shardPlan
	text   *store.Text
	doc    match.Text
	budget match.Budget
	basic  []basicState
	// blocks are the candidate blocks of the document at hand.
	blocks match.Blocks
	// spans are those of the match at hand.
	spans   []match.Span
	chunker match.Chunker
	// revs is what revisions returned last, hits what makes the match at hand.
	revs []*revision
	hits []hit

	// work done, for traces, and documents with more matches than are kept
	docs, bytes, cut int
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
	v.doc.Budget = &v.budget
	return v
}

// close releases the text at hand.
func (v *verifier) close() error {
	if v.text == nil {
		return nil
	}
	v.doc.Release()
	err := v.text.Close()
	v.text = nil
	return err
}

// use makes p the shard at hand, for work in a seat that ctx ends.
func (v *verifier) use(ctx context.Context, p *shardPlan, at *admission.Slot) error {
	var err error
	if v.plan != p {
		err = v.close()
		v.plan, v.text = p, p.view.Text()
	}
	v.text.Done, v.budget.Done = ctx.Done(), ctx.Done()
	v.text.Idle = func(wait func()) { at.Without(ctx, wait) }
	return err
}

// goTo makes document i the one at hand and returns its path.
func (v *verifier) goTo(i uint16) (path string) {
	docs := v.plan.docs
	v.docs++
	v.budget.Kept = 0
	first, last := docs.FirstBlock[i], docs.FirstBlock[i+1]
	v.doc.Reset(v.text, docs.TextStart[i], int(docs.TextBytes[i]), v.plan.view.Newlines()[first:last])
	if !v.plan.view.MayFoldWide(int(first), int(last)) {
		v.doc.SetPlain()
	}
	return docs.Path(int(i))
}

// heldBy is a revision that holds the document at hand, with the basic queries
// that hold for it there.
type heldBy struct {
	target *target
	rev    *revision
	basics []int
}

// verify returns the matches of document i, one for each revision.
func (v *verifier) verify(i uint16) ([]*query.FileMatch, error) {
	path := v.goTo(i)
	held, err := v.findHeld(i, path)
	if err != nil {
		return nil, err
	}
	var out []*query.FileMatch
	for n, h := range held {
		if n > 0 && slices.Equal(h.basics, held[n-1].basics) {
			same := *out[n-1]
			same.Commit, same.Rev = h.rev.commit, h.rev.typed
			out = append(out, &same)
			continue
		}
		m, err := v.match(i, path, h)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	v.bytes += v.doc.BytesRead
	v.doc.BytesRead = 0
	if v.budget.Cut {
		v.cut++
		v.budget.Cut = false
	}
	return out, nil
}

// findHeld tries the basic queries on document i.
func (v *verifier) findHeld(i uint16, path string) ([]heldBy, error) {
	p := v.plan
	repository := p.docs.Repository[i]
	var out []heldBy
	for k, b := range v.pass {
		if p.basics[k].docs != nil && !p.basics[k].docs.Contains(i) {
			continue
		}
		revs := v.revisions(k, i, path)
		if len(revs) == 0 {
			continue
		}
		holds, err := v.holds(k, i, path)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		for _, rev := range revs {
			n := -1
			if k > 0 {
				n = slices.IndexFunc(out, func(h heldBy) bool { return h.rev.typed == rev.typed && h.rev.commit == rev.commit })
			}
			if n < 0 {
				n = len(out)
				out = append(out, heldBy{target: b.targets[repository], rev: rev})
			}
			out[n].basics = append(out[n].basics, k)
		}
	}
	return out, nil
}

// revisions returns those of the target of basic query k that hold the
// document and are not ruled out by its owners there.
func (v *verifier) revisions(k int, i uint16, path string) []*revision {
	repository := v.plan.docs.Repository[i]
	b := v.pass[k]
	v.revs = v.revs[:0]
	for n, set := range v.plan.reach[k][repository] {
		t := b.targets[repository]
		if set.contains(i) && b.ownersHold(t.key(t.revs[n]), path) && b.contributorsHold(t.key(t.revs[n]), path) {
			v.revs = append(v.revs, t.revs[n])
		}
	}
	return v.revs
}

// match makes the match of document i at one revision.
func (v *verifier) match(i uint16, path string, h heldBy) (*query.FileMatch, error) {
	docs := v.plan.docs
	m := &query.FileMatch{
		Repo: h.target.shown, Path: path, Commit: h.rev.commit, Rev: h.rev.typed,
		Language: docs.Words[docs.Language[i]],
	}
	s := scorer{
		caseSensitive: v.pass[0].caseSensitive, text: &v.doc, definitions: v.plan.defined(i), quality: docs.Quality[i], prose: v.plan.prose(i),
		stars: h.target.stored.Stars, hits: v.hits[:0],
	}
	v.spans = v.spans[:0]
	for _, k := range h.basics {
		if err := v.gather(k, i, path, m, &s); err != nil {
			return nil, err
		}
	}
	v.hits = s.hits
	spans := match.Merge(v.spans)
	apart := v.apartOf(h.basics, len(spans))
	m.InText, m.InPath = apart.text, apart.path
	return m, v.complete(m, spans, &s)
}

// holds reports whether basic query k holds for the document.
func (v *verifier) holds(k int, i uint16, path string) (bool, error) {
	b := v.pass[k]
	for f := range b.paths {
		if !b.paths[f].holds(path) {
			return false, nil
		}
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
			s.text, s.inText, err = at.BruteWithin(&v.budget, s.text, all)
		}
		v.budget.Kept += len(s.text)
		return s, err
	}
	first, last := int(v.plan.docs.FirstBlock[i]), int(v.plan.docs.FirstBlock[i+1])
	s.text, s.inText, err = p.finder.Find(s.text, &v.doc, v.blocks.Of(&p.content, first, last))
	v.budget.Kept += len(s.text)
	return s, err
}

// gather adds what makes basic query k hold to m, v.spans and s.
func (v *verifier) gather(k int, i uint16, path string, m *query.FileMatch, s *scorer) error {
	b := v.pass[k]
	if b.symbols {
		m.Symbols = query.SortSymbols(append(m.Symbols, v.basic[k].symbols...))
		s.symbols = max(s.symbols, v.basic[k].points)
		return nil
	}
	if b.tree != nil {
		var failed error
		ask := func(a int) bool {
			s, err := v.atom(k, a, i, path)
			failed = errors.Join(failed, err)
			return s.inText || s.inPath
		}
		phrase := b.phrase
		visitTrue(b.tree, ask, func(a int) {
			ask(a)
			if b.atoms[a].silent {
				return
			}
			found := &v.basic[k].atoms[a]
			v.spans = append(v.spans, found.text...)
			m.PathRanges = match.ShortRanges(m.PathRanges, path, found.path)
			at := b.atoms[a]
			s.hits = append(s.hits, hit{
				literal: at.text(), owner: at.owner, member: at.member, phrase: phrase, words: at.words, share: b.share, text: found.text, path: found.path,
			})
			phrase = "" // it begins with the first
		})
		if failed != nil {
			return failed
		}
	}
	for f := range b.paths {
		if pf := &b.paths[f]; !pf.negated {
			found, _ := pf.Short(nil, path)
			m.PathRanges = match.ShortRanges(m.PathRanges, path, found)
			s.names = append(s.names, found...)
		}
	}
	return nil
}

// complete adds score and chunks. The score is that of all that was found, so
// that no limit and no selection decides about the order.
func (v *verifier) complete(m *query.FileMatch, spans []match.Span, s *scorer) (err error) {
	if m.Score, err = s.file(m.Path); err != nil {
		return err
	}
	if v.debug {
		m.Debug = s.explain(m.Path)
	}
	b := v.pass[0]
	if len(b.sel) > 0 && b.sel[0] != "content" {
		// Only that there is content matters.
		spans = spans[:min(len(spans), 1)]
	}
	m.Chunks, err = v.chunker.Chunks(&v.doc, spans[:min(len(spans), b.limit)], v.context)
	return err
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
