package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store/lang"
)

// An answer streams shard by shard, and what people look at are its first
// results. So some documents, the heads, are verified before all others: those
// that define a name of the query, are called like it or hold its phrase, by
// what lists and tables say before any text is read. Which they are follows
// from the plans alone, so the order stays the same whatever the workers do.
const (
	// maxHeads is how many documents go first. They are verified before
	// anything is shown.
	maxHeads = 64
	// maxGroups is how many groups of symbols are read to find definitions: a
	// few milliseconds' worth.
	maxGroups = 512
	// maxPaths is how many paths are looked at.
	maxPaths = 4096
	// maxPhrases is how many documents are taken for holding the phrase.
	maxPhrases = 1024
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
	candidates []*postings.Set
	promise    map[headKey]*promise
	// named counts the documents with definitions of one name and kind, of
	// which lastNamed is the last.
	named     map[sameName]int
	lastNamed map[sameName]headKey
	// work done, for traces
	groups, paths int
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

// findHeads returns the heads of the plans, which may have nil entries, the
// most promising first, and notes their definitions in the plans.
//
// When ctx has ended they are those found until then: nobody waits for them.
func (r *run) findHeads(ctx context.Context, in *reading, pass []*basic, plans []*shardPlan) []head {
	start := r.set.Now()
	if !slices.ContainsFunc(plans, func(p *shardPlan) bool { return p != nil && len(p.candidates) > 0 }) {
		return nil
	}
	h := &header{run: r, pass: pass, plans: plans, promise: map[headKey]*promise{}, named: map[sameName]int{}, lastNamed: map[sameName]headKey{}}
	h.candidates = make([]*postings.Set, len(plans))
	for n, p := range plans {
		if p != nil && len(p.candidates) > 0 {
			h.candidates[n] = postings.NewSet(p.candidates...)
			if p.namesErr != nil {
				h.fail(p, p.namesErr)
			}
		}
	}
	for _, b := range named(pass) {
		if in.breathe(ctx) == nil {
			h.findDefinitions(b)
		}
	}
	h.rate()
	for k, b := range pass {
		if in.breathe(ctx) != nil {
			break
		}
		h.findNames(k, b)
		h.findPhrase(k, b)
	}
	heads := h.best()
	r.o.Trace.Add(Step{Name: "choose first documents", Start: start.Sub(r.start), Took: r.set.Now().Sub(start), Fields: r.work(
		Field{"documents", strconv.Itoa(len(heads))}, Field{"symbol groups", strconv.Itoa(h.groups)}, Field{"paths", strconv.Itoa(h.paths)},
	)})
	return heads
}

// best returns the most promising documents.
func (h *header) best() []head {
	var out []head
	for key, p := range h.promise {
		out = append(out, head{key.shard, key.doc, h.points(key, p)})
	}
	slices.SortFunc(out, func(a, b head) int {
		return cmp.Or(cmp.Compare(b.promise, a.promise), cmp.Compare(a.shard, b.shard), cmp.Compare(a.doc, b.doc))
	})
	return out[:min(len(out), maxHeads)]
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
	h.run.o.Trace.Add(Step{Name: name, Start: h.run.set.Now().Sub(h.run.start), Fields: []Field{{"error", err.Error()}}})
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
		look := func(m *match.Matcher, doc uint16) {
			h.paths++
			path := p.docs.Path(int(doc))
			if spans, _ = m.Short(spans[:0], path); len(spans) == 0 {
				return
			}
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
				if h.paths < maxPaths && h.candidates[n] != nil && h.candidates[n].Contains(doc) {
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
				if h.paths < maxPaths && !pf.negated && pf.quick == nil {
					look(pf.Matcher, doc)
				}
			}
		}
	}
}

// findPhrase looks for documents that may hold the phrase.
func (h *header) findPhrase(k int, b *basic) {
	left := maxPhrases
	for n, p := range h.plans {
		if p == nil || p.basics[k].phrase == nil {
			continue
		}
		for doc := range p.basics[k].phrase.All() {
			if h.candidates[n] == nil || !h.candidates[n].Contains(doc) || p.unindexed(doc) {
				continue
			}
			if left--; left >= 0 || h.promise[headKey{n, doc}] != nil {
				h.at(n, doc).phrase = true
			}
		}
	}
}

// unindexed reports whether the lists know nothing of the text of document i.
func (p *shardPlan) unindexed(i uint16) bool {
	scan := p.view.ScanAlways()
	return scan != nil && scan.Contains(uint16(p.docs.FirstBlock[i]))
}

// prose reports whether document i is text for people.
func (p *shardPlan) prose(i uint16) bool { return p.proseWords[p.docs.Language[i]] }

// proseOf tells which words of a shard name languages of prose.
func proseOf(words []string) []bool {
	out := make([]bool, len(words))
	for i, w := range words {
		out[i] = lang.IsProse(w)
	}
	return out
}
