package rank

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// An answer streams shard by shard, and people look at its first results. So the
// top documents of a window of shards are verified before all others: those that
// define a name of the query, are called like it or hold its phrase, by what lists
// and tables say before any text is read. They follow from the plans alone, so the
// order stays the same whatever the workers do.
const (
	// DefaultTop is how many top documents a window has, unless a setting says
	// otherwise.
	DefaultTop = 64
	// maxGroups is how many groups of symbols are read to find definitions: a
	// few milliseconds' worth.
	maxGroups = 512
	// maxPaths is how many paths are found to hold a pattern, and looked at in vain of
	// one shard.
	maxPaths = 4096
	// mayHoldPerTop is how many documents are taken for holding the phrase, for each
	// top document.
	mayHoldPerTop = 16
	// TopScore is the least score of a top document: one with less is sent among
	// the others.
	TopScore = 1000
)

// TopDocument is a document that is ranked before all others of a window, Doc of
// the shard with the number Shard.
type TopDocument struct {
	Shard  int
	Doc    uint16
	points float64
}

// ranker finds the top documents among the candidates of some shards.
type ranker struct {
	task  *task.Task
	pass  []*target.Query
	plans []*Shard
	// candidates are those of each plan, as sets.
	candidates []*documentSet
	// more, if not nil, plans the shards that may have a definition whose name
	// holds one of the terms.
	more    func([]compile.Term)
	promise map[documentKey]*promise
	// words are the points of documents by how many blocks have the patterns, by
	// plan; nil are not known.
	words [][]float64
	// sameNames counts the documents with definitions of one name and kind, of
	// which lastNamed is the last.
	sameNames map[sameName]int
	lastNamed map[sameName]documentKey
	// work done, for traces
	groups, paths, texts int
}

type documentKey struct {
	shard int
	doc   uint16
}

// promise is what is known of a document before it is read: the points of its
// definitions and of its path, by term and pattern.
type promise struct {
	defined map[string]float64
	path    float64
	phrase  bool
}

// newRanker returns a ranker of plans, which may have nil entries; nil if they
// have no candidates.
func newRanker(r *task.Task, pass []*target.Query, plans []*Shard) *ranker {
	if !slices.ContainsFunc(plans, func(p *Shard) bool { return p != nil && len(p.Candidates) > 0 }) {
		return nil
	}
	h := &ranker{task: r, pass: pass, plans: plans, promise: map[documentKey]*promise{}, sameNames: map[sameName]int{}, lastNamed: map[sameName]documentKey{}}
	h.candidates, h.words = make([]*documentSet, len(plans)), make([][]float64, len(plans))
	for n := range plans {
		h.take(n)
	}
	return h
}

// take takes the candidates of a plan, if there is one.
func (h *ranker) take(n int) {
	p := h.plans[n]
	if p == nil || len(p.Candidates) == 0 {
		return
	}
	h.candidates[n] = newDocumentSet(p.Candidates)
	if p.namesErr != nil {
		h.fail(p, p.namesErr)
	}
}

// documentSet is a set of documents of a shard that is only asked: a bitmap, or the
// documents themselves as long as they are few.
type documentSet struct {
	few  []uint16 // ascending
	bits *[postings.MaxBlocks / 64]uint64
}

// fewDocuments is how many documents take less to search than a bitmap of 8 KiB to
// clear.
const fewDocuments = 64

// newDocumentSet returns the set of some documents, which are ascending and not changed
// any more.
func newDocumentSet(documents []uint16) *documentSet {
	if len(documents) <= fewDocuments {
		return &documentSet{few: documents}
	}
	s := &documentSet{bits: &[postings.MaxBlocks / 64]uint64{}}
	for _, doc := range documents {
		s.bits[doc>>6] |= 1 << (doc & 63)
	}
	return s
}

func (s *documentSet) contains(doc uint16) bool {
	if s.bits == nil {
		_, ok := slices.BinarySearch(s.few, doc)
		return ok
	}
	return s.bits[doc>>6]&(1<<(doc&63)) != 0
}

// findTop returns the top documents, the most promising first, and notes their
// definitions in the plans. It plans the shards that may have some.
//
// When ctx has ended it returns what it found until then: no client waits for it.
func (w *Window) findTop(ctx context.Context) []TopDocument {
	in := w.in[0]
	w.planPromising(ctx)
	start := w.task.Now()
	for _, p := range w.Plans {
		if p != nil {
			readNames(ctx, w.task, in, w.pass, p)
		}
	}
	h := newRanker(w.task, w.pass, w.Plans)
	if h == nil {
		return nil
	}
	h.more = func(terms []compile.Term) {
		for _, n := range w.planParts(ctx, terms) {
			if p := w.Plans[n]; p != nil {
				readNames(ctx, w.task, in, w.pass, p)
				h.take(n)
			}
		}
	}
	h.findAll(ctx, in)
	// If there are too few phrases, all shards were planned to know that.
	allPlanned := !w.enoughPhrases(ctx)
	for k, q := range w.pass {
		if in.Yield(ctx) != nil {
			break
		}
		h.findOthers(ctx, k, q, allPlanned)
	}
	top := h.best()
	h.trace("choose first documents", start, report.Count("documents", len(top)))
	return top
}

// findOthers finds the documents that are called like a pattern of q, basic query
// k, hold its phrase or have its words all over. Only order depends on them, so a
// panic is reported like any fault.
func (h *ranker) findOthers(ctx context.Context, k int, q *target.Query, allPlanned bool) {
	defer func() {
		if x := recover(); x != nil {
			h.fail(nil, fmt.Errorf("panic: %v", x))
		}
	}()
	h.findPaths(k, q)
	h.findPhrase(k, q)
	if allPlanned {
		h.findWordy(k, q)
	}
	h.confirmPhrase(ctx, k, q)
}

// findDefinitions notes the definitions of the candidates in the plans.
func findDefinitions(ctx context.Context, r *task.Task, in *shardplan.Reader, pass []*target.Query, plans []*Shard) {
	start := r.Now()
	if h := newRanker(r, pass, plans); h != nil {
		h.findAll(ctx, in)
		h.trace("find definitions", start)
	}
}

// findAll finds the definitions of the names of the pass, and rates them. Only
// order depends on them, so a panic over damaged lists is reported like any fault.
func (h *ranker) findAll(ctx context.Context, in *shardplan.Reader) {
	defer func() {
		if x := recover(); x != nil {
			h.fail(nil, fmt.Errorf("panic: %v", x))
		}
	}()
	for _, b := range named(h.pass) {
		if in.Yield(ctx) == nil {
			h.findDefinitions(b)
		}
	}
	h.rate()
}

// trace records what was read.
func (h *ranker) trace(name string, start time.Time, fields ...report.Field) {
	fields = append(fields, report.Count("symbol groups", h.groups), report.Count("paths", h.paths), report.Count("texts", h.texts))
	h.task.Step(name, start, h.task.Guarded(fields...)...)
}

// best returns the most promising documents.
func (h *ranker) best() []TopDocument {
	all := h.sorted(func(documentKey, *promise) bool { return true })
	return all[:min(len(all), h.task.TopDocuments)]
}

// sorted returns the documents that ok reports true for, the most promising
// first.
func (h *ranker) sorted(ok func(documentKey, *promise) bool) []TopDocument {
	var out []TopDocument
	for key, p := range h.promise {
		if ok(key, p) {
			out = append(out, TopDocument{key.shard, key.doc, h.points(key, p)})
		}
	}
	slices.SortFunc(out, func(a, b TopDocument) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Doc, b.Doc))
	})
	return out
}

func (h *ranker) points(key documentKey, p *promise) float64 {
	docs := h.plans[key.shard].Docs
	s := score.Document{Patterns: p.path, Quality: docs.Quality[key.doc], Prose: h.plans[key.shard].IsProse(key.doc)}
	// Summed in the order of the terms: sums of floats depend on it.
	for _, b := range h.pass {
		for _, t := range b.Terms {
			s.Patterns += t.Share * p.defined[t.Text]
		}
	}
	if words := h.words[key.shard]; words != nil {
		s.Patterns += words[key.doc]
	}
	if p.phrase {
		s.Phrase = score.PhraseWhole
	}
	return s.Sum(docs.Path(int(key.doc)))
}

// fail notes that what only the order depends on could not be read, of one shard
// or of some.
func (h *ranker) fail(p *Shard, err error) {
	name := "definitions unreadable"
	if p != nil {
		name = fmt.Sprintf("definitions of shard %d unreadable", p.View.ID)
	}
	h.task.Note(name, report.Text("error", err.Error()))
}

func (h *ranker) at(shard int, doc uint16) *promise {
	key := documentKey{shard, doc}
	p := h.promise[key]
	if p == nil {
		p = &promise{defined: map[string]float64{}}
		h.promise[key] = p
	}
	return p
}

// findPaths looks for documents that are called like a pattern, or as the path
// filters of a query without patterns say.
func (h *ranker) findPaths(k int, b *target.Query) {
	if b.Tree == nil && len(b.Paths) == 0 || b.Tree != nil && !b.InPath {
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
			path := p.Docs.Path(int(doc))
			if spans, _ = m.Short(spans[:0], path); len(spans) == 0 {
				missed++
				return
			}
			h.paths++
			if points := score.PathPoints(path, spans); points >= score.BaseInside {
				h.at(n, doc).path += b.Share * points
			}
		}
		for a, at := range b.Atoms {
			c := &p.Basics[k].Atoms[a].Path
			if at.Silent || at.Negated || c.All {
				continue
			}
			for doc := range c.Docs.All() {
				if left() && h.candidates[n] != nil && h.candidates[n].contains(doc) {
					look(at.Matcher, doc)
				}
			}
		}
		if b.Tree != nil {
			continue
		}
		for f := range b.Paths {
			pf := &b.Paths[f]
			for _, doc := range p.Candidates {
				if left() && pf.HasSpans() {
					look(pf.Matcher, doc)
				}
			}
		}
	}
}

// findPhrase looks for documents that may hold the phrase: the first of them, and
// those that promise something else.
func (h *ranker) findPhrase(k int, b *target.Query) {
	left := mayHoldPerTop * h.task.TopDocuments
	for n, p := range h.plans {
		if p == nil || p.phrases[k] == nil || h.candidates[n] == nil {
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
			if key.shard == n && p.phrases[k].Docs.Contains(key.doc) && h.candidates[n].contains(key.doc) && !p.IsUnindexed(key.doc) {
				known.phrase = true
			}
		}
	}
}

// withPhrase yields the documents of candidates that may hold the phrase of basic
// query k, by its posting lists.
func (p *Shard) withPhrase(k int, candidates *documentSet) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for doc := range p.phrases[k].Docs.All() {
			if candidates.contains(doc) && !p.IsUnindexed(doc) && !yield(doc) {
				return
			}
		}
	}
}
