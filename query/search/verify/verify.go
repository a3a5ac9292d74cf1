package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/shard"
)

// Verifier confirms documents, one after the other, for basic queries of one shape. It
// belongs to one goroutine.
type Verifier struct {
	Queries []*target.Query
	o       Options

	Plan        *shardplan.Plan
	definitions *score.Definitions
	text        *shard.Text
	doc         match.Text
	budget      match.Budget
	basic       []basicState
	// blocks are the candidate blocks of the document at hand.
	blocks match.Blocks
	// spans are where the match at hand was found.
	spans   []match.Span
	chunker match.Chunker
	// revs, keys and held are the last results of revisions, scanDocument and findHeld;
	// hits are those of the match at hand.
	revs []*target.Revision
	keys []target.Key
	held []heldBy
	hits []score.Hit

	// Documents and Bytes count the work for traces, TextsCut the documents with
	// more matches than are kept.
	Documents, Bytes, TextsCut int
}

// basicState is the state of one basic query at the document at hand.
type basicState struct {
	atoms []atomState
	// symbols are the symbols that match, and points their best score.
	symbols []query.Symbol
	points  float64
}

type atomState struct {
	looked         bool
	inText, inPath bool
	text, path     []match.Span
}

// Options are what matches carry, and how texts are searched.
type Options struct {
	// ContextLines is how many lines around a match its chunk carries.
	ContextLines int
	// Debug asks for a ranking explanation on each match.
	Debug bool
	// Brute searches by Go's regexp.
	Brute bool
}

// New returns a verifier of documents for basic queries of one shape.
func New(queries []*target.Query, o Options) *Verifier {
	v := &Verifier{Queries: queries, o: o, basic: make([]basicState, len(queries))}
	for i, b := range queries {
		v.basic[i].atoms = make([]atomState, len(b.Atoms))
	}
	v.doc.Budget = &v.budget
	return v
}

// Close releases the text at hand.
func (v *Verifier) Close() error {
	if v.text == nil {
		return nil
	}
	v.doc.Release()
	err := v.text.Close()
	v.text = nil
	return err
}

// use makes p the shard at hand, for work in a slot until ctx ends.
func (v *Verifier) use(ctx context.Context, p *shardplan.Plan, d *score.Definitions, at *admission.Slot) error {
	var err error
	if v.Plan != p {
		err = v.Close()
		v.Plan, v.text = p, p.View.Text()
	}
	v.definitions = d
	v.text.Done, v.budget.Done = ctx.Done(), ctx.Done()
	v.text.Idle = func(wait func()) { at.Without(ctx, wait) }
	return err
}

// goTo makes document i the one at hand and returns its path.
func (v *Verifier) goTo(i uint16) (path string) {
	docs := v.Plan.Docs
	v.Documents++
	v.budget.Kept = 0
	first, last := docs.FirstBlock[i], docs.FirstBlock[i+1]
	v.doc.Reset(v.text, docs.TextStart[i], int(docs.TextBytes[i]), v.Plan.View.Newlines()[first:last])
	if !v.Plan.View.MayFoldWide(int(first), int(last)) {
		v.doc.SetPlain()
	}
	return docs.Path(int(i))
}

// heldBy is a revision that holds the document at hand, with the basic queries
// that hold for it there.
type heldBy struct {
	target *target.Repository
	rev    *target.Revision
	basics []int
}

// verify appends the matches of document i to dst, one for each revision.
func (v *Verifier) verify(dst []query.Match, i uint16) ([]query.Match, error) {
	defer v.count()
	path := v.goTo(i)
	if err := v.findHeld(i, path); err != nil {
		return nil, err
	}
	var last *query.FileMatch
	for n, h := range v.held {
		if n > 0 && slices.Equal(h.basics, v.held[n-1].basics) {
			same := *last
			same.Commit, same.Rev = h.rev.Commit, h.rev.Typed
			last = &same
		} else {
			var err error
			if last, err = v.match(i, path, h); err != nil {
				return nil, err
			}
		}
		dst = append(dst, last)
	}
	return dst, nil
}

// count counts the work on the document at hand, also if it failed.
func (v *Verifier) count() {
	v.Bytes += v.doc.BytesRead
	v.doc.BytesRead = 0
	if v.budget.Cut {
		v.TextsCut++
		v.budget.Cut = false
	}
}

// findHeld tries the basic queries on document i, and sets held.
func (v *Verifier) findHeld(i uint16, path string) error {
	p := v.Plan
	repository := p.Docs.Repository[i]
	v.held = v.held[:0]
	for k, b := range v.Queries {
		if p.Basics[k].Docs != nil && !p.Basics[k].Docs.Contains(i) {
			continue
		}
		// Targets are made for documents that match alone, unless they rule some out.
		if !p.Held(k, repository).Holds(i) || b.JudgesPeople() && len(v.revisions(k, i, path)) == 0 {
			continue
		}
		holds, err := v.holds(k, i, path)
		if err != nil {
			return err
		}
		if !holds {
			continue
		}
		for _, rev := range v.revisions(k, i, path) {
			n := -1
			if k > 0 {
				n = slices.IndexFunc(v.held, func(h heldBy) bool { return h.rev.Typed == rev.Typed && h.rev.Commit == rev.Commit })
			}
			if n < 0 {
				n = len(v.held)
				v.held = slices.Grow(v.held, 1)[:n+1] // with the basics of another document, as memory
				v.held[n] = heldBy{target: b.Repositories.Get(repository), rev: rev, basics: v.held[n].basics[:0]}
			}
			v.held[n].basics = append(v.held[n].basics, k)
		}
	}
	return nil
}

// revisions returns those of the target of basic query k that hold the
// document and are not ruled out by its owners there.
func (v *Verifier) revisions(k int, i uint16, path string) []*target.Revision {
	repository := v.Plan.Docs.Repository[i]
	b := v.Queries[k]
	v.revs = v.revs[:0]
	for n, set := range v.Plan.Held(k, repository) {
		t := b.Repositories.Get(repository)
		if set.Contains(i) && b.OwnersHold(t.Key(t.Revisions[n]), path) && b.ContributorsHold(t.Key(t.Revisions[n]), path) {
			v.revs = append(v.revs, t.Revisions[n])
		}
	}
	return v.revs
}

// match makes the match of document i at one revision.
func (v *Verifier) match(i uint16, path string, h heldBy) (*query.FileMatch, error) {
	docs := v.Plan.Docs
	m := &query.FileMatch{
		Repo: h.target.Shown, Path: path, Commit: h.rev.Commit, Rev: h.rev.Typed,
		Language: docs.Words[docs.Language[i]],
	}
	s := score.Document{
		Text: &v.doc, Definitions: v.definitions.In(i), Quality: docs.Quality[i], Prose: v.Plan.IsProse(i),
		Stars: h.target.Stored.Stars, Hits: v.hits[:0],
	}
	v.spans = v.spans[:0]
	for _, k := range h.basics {
		if err := v.gather(k, i, path, m, &s); err != nil {
			return nil, err
		}
	}
	v.hits = s.Hits
	spans := match.Merge(v.spans)
	parts := v.partsOf(h.basics, len(spans))
	m.InText, m.InPath = parts.text, parts.path
	return m, v.complete(m, spans, &s)
}

// holds reports whether basic query k holds for the document.
func (v *Verifier) holds(k int, i uint16, path string) (bool, error) {
	b := v.Queries[k]
	for f := range b.Paths {
		if !b.Paths[f].Holds(path) {
			return false, nil
		}
	}
	if b.InSymbols {
		return v.findSymbols(k, i, path)
	}
	if b.Tree == nil {
		return true, nil
	}
	for a := range v.basic[k].atoms {
		s := &v.basic[k].atoms[a]
		*s = atomState{text: s.text[:0], path: s.path[:0]}
	}
	var failed error
	ok := compile.Eval(b.Tree, func(a int) bool {
		s, err := v.atom(k, a, i, path)
		if err != nil {
			failed = err
		}
		return s.inText || s.inPath
	})
	return ok, failed
}

// atom looks for one atom in the document, once.
func (v *Verifier) atom(k, a int, i uint16, path string) (*atomState, error) {
	s, at, p := &v.basic[k].atoms[a], v.Queries[k].Atoms[a], &v.Plan.Basics[k].Atoms[a]
	if s.looked {
		return s, nil
	}
	s.looked = true
	if p.Path.All || p.Path.Docs.Contains(i) {
		s.path, s.inPath = at.Short(s.path, path)
	}
	if v.Plan.Docs.Reason[i] != shard.Searchable || !p.Content.All && !p.Content.Docs.Contains(i) {
		return s, nil
	}
	var err error
	if v.o.Brute {
		var all []byte
		if all, err = v.doc.All(); err == nil {
			s.text, s.inText, err = at.BruteWithin(&v.budget, s.text, all)
		}
		v.budget.Kept += len(s.text)
		return s, err
	}
	first, last := int(v.Plan.Docs.FirstBlock[i]), int(v.Plan.Docs.FirstBlock[i+1])
	s.text, s.inText, err = p.Finder.Find(s.text, &v.doc, v.blocks.Of(&p.Content, first, last))
	v.budget.Kept += len(s.text)
	return s, err
}

// gather adds what makes basic query k hold to m, v.spans and s.
func (v *Verifier) gather(k int, i uint16, path string, m *query.FileMatch, s *score.Document) error {
	b := v.Queries[k]
	if b.InSymbols {
		m.Symbols = query.SortSymbols(append(m.Symbols, v.basic[k].symbols...))
		s.Symbols = max(s.Symbols, v.basic[k].points)
		return nil
	}
	if b.Tree != nil {
		var failed error
		ask := func(a int) bool {
			s, err := v.atom(k, a, i, path)
			failed = errors.Join(failed, err)
			return s.inText || s.inPath
		}
		phrase := b.FoldedPhrase
		compile.VisitTrue(b.Tree, ask, func(a int) {
			ask(a)
			if b.Atoms[a].Silent {
				return
			}
			found := &v.basic[k].atoms[a]
			v.spans = append(v.spans, found.text...)
			m.PathRanges = match.ShortRanges(m.PathRanges, path, found.path)
			at := b.Atoms[a]
			s.Hits = append(s.Hits, score.Hit{
				Literal: at.Text(), Owner: at.Owner, Member: at.Member, Phrase: phrase, CaseSensitive: b.CaseSensitive, Words: at.Words, Share: b.Share, Text: found.text, Path: found.path,
			})
			phrase = "" // it begins with the first
		})
		if failed != nil {
			return failed
		}
	}
	for f := range b.Paths {
		if pf := &b.Paths[f]; !pf.Negated {
			found, _ := pf.Short(nil, path)
			m.PathRanges = match.ShortRanges(m.PathRanges, path, found)
			s.Names = append(s.Names, found...)
		}
	}
	return nil
}

// complete adds score and chunks. The score is read from all spans, so that no limit
// and no selection decides about the order.
func (v *Verifier) complete(m *query.FileMatch, spans []match.Span, s *score.Document) (err error) {
	if m.Score, err = s.Score(m.Path); err != nil {
		return err
	}
	if v.o.Debug {
		m.Debug = s.Explain(m.Path)
	}
	b := v.Queries[0]
	if len(b.Select) > 0 && b.Select[0] != "content" {
		// Only that there is content matters.
		spans = spans[:min(len(spans), 1)]
	}
	m.Chunks, err = v.chunker.Chunks(&v.doc, spans[:min(len(spans), b.Limit)], v.o.ContextLines)
	return err
}

// HoldsPhrase reports whether the phrase of basic query k stands in document i of
// p, where candidates say that it may. A panic over it is an error.
func (v *Verifier) HoldsPhrase(ctx context.Context, at *admission.Slot, p *shardplan.Plan, candidates *postings.Candidates, k int, i uint16) (holds bool, err error) {
	defer v.doc.Release()
	defer shardplan.Recovered(&err)
	if err := v.use(ctx, p, nil, at); err != nil {
		return false, err
	}
	v.goTo(i)
	blocks := v.blocks.Of(candidates, int(p.Docs.FirstBlock[i]), int(p.Docs.FirstBlock[i+1]))
	v.spans, holds, err = v.Queries[k].PhraseMatcher.Finder(candidates.Anchor).Find(v.spans[:0], &v.doc, blocks)
	return holds, err
}

// Segment is the unit of verification: some candidates of one shard.
type Segment struct {
	Plan *shardplan.Plan
	// Definitions are those of the names of the query, for the scores.
	Definitions *score.Definitions
	Docs        []uint16

	// Matches and Err are the result of the verifier. Verified counts the documents
	// that were looked at, Cut those with more matches than are kept.
	Matches       []query.Match
	Verified, Cut int
	Err           error
}

// Verify verifies the documents of s in order, in the slot at. A document that
// cannot be verified does not keep the others from it.
func (v *Verifier) Verify(ctx context.Context, at *admission.Slot, s *Segment) {
	if s.Err = v.use(ctx, s.Plan, s.Definitions, at); s.Err != nil {
		return
	}
	before := v.TextsCut
	defer func() { s.Cut = v.TextsCut - before }()
	for _, i := range s.Docs {
		if err := ctx.Err(); err != nil {
			s.Err = err
			return
		}
		s.Verified++
		found, failed := v.document(s.Matches, i)
		if failed != nil {
			s.Err = failed
			continue
		}
		s.Matches = found
	}
}

// document verifies one document and appends its matches to dst. A panic over it is an
// error.
func (v *Verifier) document(dst []query.Match, i uint16) (found []query.Match, err error) {
	defer func() {
		v.doc.Release()
		if err != nil {
			err = fmt.Errorf("verify %q of shard %d: %w", v.Plan.Docs.Path(int(i)), v.Plan.View.ID, err)
		}
	}()
	defer shardplan.Recovered(&err)
	return v.verify(dst, i)
}

// Scan says what becomes of the documents that a search finds outside its answer,
// for a predicate. Its functions are called from several goroutines.
type Scan struct {
	// Done says that no more documents of a revision are wanted.
	Done func(target.Key) bool
	// Found is called with the verifier standing at a document that holds, and
	// the revisions that have it, which it does not keep.
	Found func(keys []target.Key, v *Verifier, i uint16) error
	// Unreadable is called with a source of which not everything could be read.
	Unreadable func(target.Source)
}

// Text returns the whole text of the document at hand.
func (v *Verifier) Text() ([]byte, error) { return v.doc.All() }

// Scan confirms the candidates of a plan, for a query that judges no people.
func (v *Verifier) Scan(ctx context.Context, at *admission.Slot, p *shardplan.Plan, s Scan) error {
	if err := v.use(ctx, p, nil, at); err != nil {
		return err
	}
	var failed error
	for _, i := range p.Candidates {
		if err := at.Acquire(ctx); err != nil {
			return err
		}
		if err := v.scanDocument(i, s); err != nil {
			failed = err
		}
	}
	return failed
}

// scanDocument calls s.Found if the document holds. A panic over it is an
// error.
func (v *Verifier) scanDocument(i uint16, s Scan) (err error) {
	defer func() {
		v.doc.Release()
		if err != nil {
			err = fmt.Errorf("test %q of shard %d: %w", v.Plan.Docs.Path(int(i)), v.Plan.View.ID, err)
		}
	}()
	defer shardplan.Recovered(&err)
	repository := v.Plan.Docs.Repository[i]
	v.keys = v.keys[:0]
	for n, set := range v.Plan.Held(0, repository) {
		if !set.Contains(i) {
			continue
		}
		if key := v.Queries[0].Repositories.KeyOf(repository, n); !s.Done(key) {
			v.keys = append(v.keys, key)
		}
	}
	if len(v.keys) == 0 {
		return nil
	}
	holds, err := v.holds(0, i, v.goTo(i))
	if err != nil || !holds {
		return err
	}
	return s.Found(v.keys, v, i)
}
