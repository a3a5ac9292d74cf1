package search

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/lang"
)

// An answer streams shard by shard, and what people look at are its first
// results. So some documents, the heads, are verified before all others: those
// that define a name of the query, are called like it or hold its phrase, by
// what lists and tables say before any text is read. Which they are follows
// from the plans alone, so the order stays the same whatever the workers do.
const (
	// maxHeads is how many documents go first, unless a setting says otherwise.
	maxHeads = 64
	// maxGroups is how many groups of symbols are read to find definitions: a
	// few milliseconds' worth.
	maxGroups = 512
	// maxPaths is how many paths are found to hold a pattern, and looked at in vain of
	// one shard.
	maxPaths = 4096
	// mayHoldPerHead is how many documents are taken for holding the phrase, for each
	// that may go first.
	mayHoldPerHead = 16
	// headScore is the least score that keeps a promise: a document with less
	// takes its place among the others.
	headScore = 1000
)

// term is a word of a pattern that may be the name of a definition.
type term struct {
	// text is the word, folded as lists are.
	text string
	// share is what its pattern counts of the whole.
	share float64
	// part says that the word may be part of a longer name. In a sentence it may
	// not, except at its ends, and there it hardly is.
	part bool
	// whole and inside are what lists are asked for names that are the word, and
	// for those that hold it. Names end with an imaginary zero byte.
	whole, inside *postings.Literal
}

// terms returns the words of the patterns of b that a document has to match,
// those that may be names, without repeats.
func (b *basic) terms() []term {
	var out []term
	for _, a := range b.atoms {
		if a.silent || a.negated {
			continue
		}
		for _, w := range words(a.Expr, true) {
			known := slices.ContainsFunc(out, func(t term) bool { return t.text == w.text })
			if !known && len(w.text) >= minTerm && len(out) < maxTerms {
				out = append(out, term{
					text: w.text, share: b.share, part: w.part,
					whole: &postings.Literal{Runs: []string{w.text + "\x00"}}, inside: &postings.Literal{Runs: []string{w.text}},
				})
			}
		}
	}
	return out
}

// Words that are shorter than minTerm define nothing that is worth looking for
// among so many; maxTerms bounds what a long query costs.
const (
	minTerm  = 2
	maxTerms = 8
)

// words returns the words of which a match of e has some. Their shares are not
// set. whole says that e is all that is known of the pattern.
func words(e postings.Expr, whole bool) (out []term) {
	var parts []postings.Expr
	switch e := e.(type) {
	case *postings.Literal:
		for _, run := range e.Runs {
			all := strings.FieldsFunc(run, func(r rune) bool { return r < 0x80 && class(byte(r)) == other })
			for _, word := range all {
				edge := strings.HasPrefix(run, word) || strings.HasSuffix(run, word)
				out = append(out, term{text: word, part: len(all) == 1 || edge && !whole})
			}
		}
	case *postings.And:
		parts = e.Exprs
	case *postings.Or:
		parts = e.Exprs
	}
	for _, part := range parts {
		out = append(out, words(part, false)...)
	}
	return out
}

// asked counts the patterns of b that a document may match.
func (b *basic) asked() (n int) {
	for _, a := range b.atoms {
		if !a.silent && !a.negated {
			n++
		}
	}
	return n
}

// head is a document that goes first.
type head struct {
	shard   int
	doc     uint16
	promise float64
}

// header finds the heads among the candidates of some shards.
type header struct {
	run   *run
	pass  []*basic
	plans []*shardPlan
	// candidates are those of each plan, as sets.
	candidates []*documentSet
	// more, if not nil, plans the shards that may have a definition whose name
	// holds one of the terms.
	more    func([]term)
	promise map[headKey]*promise
	// words are the points of documents by how many blocks have the patterns, by
	// plan; nil are not known.
	words [][]float64
	// named counts the documents with definitions of one name and kind, of
	// which lastNamed is the last.
	named     map[sameName]int
	lastNamed map[sameName]headKey
	// work done, for traces
	groups, paths, texts int
}

type headKey struct {
	shard int
	doc   uint16
}

// promise is what is known of a document before it is read: the points of its
// definitions and of its path, by term and pattern.
type promise struct {
	defined map[string]float64
	named   float64
	phrase  bool
}

// newHeader returns a header for the plans, which may have nil entries, nil if
// they have no candidates.
func (r *run) newHeader(pass []*basic, plans []*shardPlan) *header {
	if !slices.ContainsFunc(plans, func(p *shardPlan) bool { return p != nil && len(p.candidates) > 0 }) {
		return nil
	}
	h := &header{run: r, pass: pass, plans: plans, promise: map[headKey]*promise{}, named: map[sameName]int{}, lastNamed: map[sameName]headKey{}}
	h.candidates, h.words = make([]*documentSet, len(plans)), make([][]float64, len(plans))
	for n := range plans {
		h.take(n)
	}
	return h
}

// take takes the candidates of a plan, if there is one.
func (h *header) take(n int) {
	p := h.plans[n]
	if p == nil || len(p.candidates) == 0 {
		return
	}
	h.candidates[n] = newDocumentSet(p.candidates)
	if p.namesErr != nil {
		h.fail(p, p.namesErr)
	}
}

// documentSet is a set of documents of a shard that is only asked.
type documentSet [postings.MaxBlocks / 64]uint64

func newDocumentSet(documents []uint16) *documentSet {
	s := &documentSet{}
	for _, doc := range documents {
		s[doc>>6] |= 1 << (doc & 63)
	}
	return s
}

func (s *documentSet) contains(doc uint16) bool { return s[doc>>6]&(1<<(doc&63)) != 0 }

// findHeads returns the heads of the round, the most promising first, and notes
// their definitions in the plans. It plans the shards that may have heads.
//
// When ctx has ended they are those found until then: nobody waits for them.
func (rd *round) findHeads(ctx context.Context) []head {
	in := rd.in[0]
	rd.planPromising(ctx)
	start := rd.run.set.Now()
	for _, p := range rd.plans {
		if p != nil {
			rd.run.readNames(ctx, in, rd.pass, p)
		}
	}
	h := rd.run.newHeader(rd.pass, rd.plans)
	if h == nil {
		return nil
	}
	h.more = func(terms []term) {
		for _, n := range rd.planParts(ctx, terms) {
			if p := rd.plans[n]; p != nil {
				rd.run.readNames(ctx, in, rd.pass, p)
				h.take(n)
			}
		}
	}
	h.findAll(ctx, in)
	// If there are too few phrases, all shards were planned to know that.
	allPlanned := !rd.enoughPhrases(ctx)
	for k, q := range rd.pass {
		if in.yield(ctx) != nil {
			break
		}
		h.findNames(k, q)
		h.findPhrase(k, q)
		if allPlanned {
			h.findWordy(k, q)
		}
		h.confirmPhrase(ctx, k, q)
	}
	heads := h.best()
	h.trace("choose first documents", start, report.Count("documents", len(heads)))
	return heads
}

// findDefinitions notes the definitions of the candidates in the plans.
func (r *run) findDefinitions(ctx context.Context, in *reading, pass []*basic, plans []*shardPlan) {
	start := r.set.Now()
	if h := r.newHeader(pass, plans); h != nil {
		h.findAll(ctx, in)
		h.trace("find definitions", start)
	}
}

// findAll finds the definitions of the names of the pass, and rates them. Only
// order depends on them, so a panic over damaged lists is reported like any fault.
func (h *header) findAll(ctx context.Context, in *reading) {
	defer func() {
		if x := recover(); x != nil {
			h.fail(nil, fmt.Errorf("panic: %v", x))
		}
	}()
	for _, b := range named(h.pass) {
		if in.yield(ctx) == nil {
			h.findDefinitions(b)
		}
	}
	h.rate()
}

// trace records what was read.
func (h *header) trace(name string, start time.Time, fields ...report.Field) {
	fields = append(fields, report.Count("symbol groups", h.groups), report.Count("paths", h.paths), report.Count("texts", h.texts))
	h.run.o.Trace.Add(report.Step{Name: name, Start: start.Sub(h.run.start), Took: h.run.set.Now().Sub(start), Fields: h.run.work(fields...)})
}

// best returns the most promising documents.
func (h *header) best() []head {
	all := h.sorted(func(headKey, *promise) bool { return true })
	return all[:min(len(all), h.run.set.Heads)]
}

// sorted returns the documents that ok reports true for, the most promising
// first.
func (h *header) sorted(ok func(headKey, *promise) bool) []head {
	var out []head
	for key, p := range h.promise {
		if ok(key, p) {
			out = append(out, head{key.shard, key.doc, h.points(key, p)})
		}
	}
	slices.SortFunc(out, func(a, b head) int {
		return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.shard, b.shard), cmp.Compare(a.doc, b.doc))
	})
	return out
}

func (h *header) points(key headKey, p *promise) float64 {
	docs := h.plans[key.shard].docs
	s := scorer{patterns: p.named, quality: docs.Quality[key.doc], prose: h.plans[key.shard].prose(key.doc)}
	// Summed in the order of the terms: sums of floats depend on it.
	for _, b := range h.pass {
		for _, t := range b.names {
			s.patterns += t.share * p.defined[t.text]
		}
	}
	if words := h.words[key.shard]; words != nil {
		s.patterns += words[key.doc]
	}
	if p.phrase {
		s.phrase = phraseWhole
	}
	return s.sum(docs.Path(int(key.doc)))
}

// fail notes that what only the order depends on could not be read, of one shard
// or of some.
func (h *header) fail(p *shardPlan, err error) {
	name := "definitions unreadable"
	if p != nil {
		name = fmt.Sprintf("definitions of shard %d unreadable", p.view.ID)
	}
	h.run.o.Trace.Add(report.Step{Name: name, Start: h.run.set.Now().Sub(h.run.start), Fields: []report.Field{report.Text("error", err.Error())}})
}

func (h *header) at(shard int, doc uint16) *promise {
	key := headKey{shard, doc}
	p := h.promise[key]
	if p == nil {
		p = &promise{defined: map[string]float64{}}
		h.promise[key] = p
	}
	return p
}

// findNames looks for documents that are called like a pattern, or as the path
// filters of a query without patterns say.
func (h *header) findNames(k int, b *basic) {
	if b.tree == nil && len(b.paths) == 0 || b.tree != nil && !b.path {
		return
	}
	var spans []match.Span
	for n, p := range h.plans {
		if p == nil {
			continue
		}
		missed := 0 // of this shard: that lists are too generous is no matter of others
		left := func() bool { return h.paths < maxPaths && missed < maxPaths }
		look := func(m *match.Matcher, doc uint16) {
			path := p.docs.Path(int(doc))
			if spans, _ = m.Short(spans[:0], path); len(spans) == 0 {
				missed++
				return
			}
			h.paths++
			if points := pathPoints(path, spans); points >= baseInside {
				h.at(n, doc).named += b.share * points
			}
		}
		for a, at := range b.atoms {
			c := &p.basics[k].atoms[a].path
			if at.silent || at.negated || c.All {
				continue
			}
			for doc := range c.Docs.All() {
				if left() && h.candidates[n] != nil && h.candidates[n].contains(doc) {
					look(at.Matcher, doc)
				}
			}
		}
		if b.tree != nil {
			continue
		}
		for f := range b.paths {
			pf := &b.paths[f]
			for _, doc := range p.candidates {
				if left() && pf.hasSpans() {
					look(pf.Matcher, doc)
				}
			}
		}
	}
}

// findPhrase looks for documents that may hold the phrase: the first of them, and
// those that promise something else.
func (h *header) findPhrase(k int, b *basic) {
	left := mayHoldPerHead * h.run.set.Heads
	for n, p := range h.plans {
		if p == nil || p.basics[k].phrase == nil || h.candidates[n] == nil {
			continue
		}
		for doc := range p.withPhrase(k, h.candidates[n]) {
			if left--; left < 0 {
				break
			}
			h.at(n, doc).phrase = true
		}
		if left >= 0 {
			continue
		}
		for key, known := range h.promise {
			if key.shard == n && p.basics[k].phrase.Contains(key.doc) && h.candidates[n].contains(key.doc) && !p.unindexed(key.doc) {
				known.phrase = true
			}
		}
	}
}

// withPhrase yields the documents of candidates that may hold the phrase of basic
// query k, by its posting lists.
func (p *shardPlan) withPhrase(k int, candidates *documentSet) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for doc := range p.basics[k].phrase.All() {
			if candidates.contains(doc) && !p.unindexed(doc) && !yield(doc) {
				return
			}
		}
	}
}

// unindexed reports whether the lists know nothing of the text of document i.
func (p *shardPlan) unindexed(i uint16) bool {
	scan := p.view.ScanAlways()
	return scan != nil && scan.Contains(uint16(p.docs.FirstBlock[i]))
}

// prose reports whether document i is text for people, or settings.
func (p *shardPlan) prose(i uint16) bool { return p.proseWords[p.docs.Language[i]] }

// settings are languages in which nothing is programmed that people look for.
var settings = map[string]bool{"Makefile": true, "CMake": true, "YAML": true, "JSON": true, "INI": true}

// proseOf reports which words of a shard name languages of prose or settings.
func proseOf(words []string) []bool {
	out := make([]bool, len(words))
	for i, w := range words {
		out[i] = lang.IsProse(w) || settings[w]
	}
	return out
}
