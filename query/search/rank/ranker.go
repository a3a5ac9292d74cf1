package rank

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// ranker finds the top documents among the candidates of some shards.
type ranker struct {
	task    *task.Task
	queries []*target.Query
	plans   []*Plan
	// candidates are those of each plan, as sets.
	candidates []*documentSet
	evidence   map[documentKey]*evidence
	// words are the points of documents by how many blocks have the patterns, by
	// plan; nil are not known.
	words [][]float64
	// sameNames counts the documents with definitions of one name and kind, of
	// which lastNamed is the last.
	sameNames map[sameName]int
	lastNamed map[sameName]documentKey
	// groups, paths and texts are how many were looked at.
	groups, paths, texts int
}

// documentKey is a document of the shard with that place among the plans.
type documentKey struct {
	shard int
	doc   uint16
}

// evidence is what is known of a document before it is read: the points of its
// definitions and of its path, by term and pattern.
type evidence struct {
	defined map[string]float64
	path    float64
	phrase  bool
}

// newRanker returns a ranker of plans, which may have nil entries; nil if they
// have no candidates.
func newRanker(t *task.Task, queries []*target.Query, plans []*Plan) *ranker {
	if !slices.ContainsFunc(plans, func(p *Plan) bool { return p != nil && len(p.Candidates) > 0 }) {
		return nil
	}
	r := &ranker{
		task: t, queries: queries, plans: plans, candidates: make([]*documentSet, len(plans)), words: make([][]float64, len(plans)),
		evidence: map[documentKey]*evidence{}, sameNames: map[sameName]int{}, lastNamed: map[sameName]documentKey{},
	}
	for n := range plans {
		r.addCandidates(n)
	}
	return r
}

// addCandidates adds the candidates of plan n, if there is one.
func (r *ranker) addCandidates(n int) {
	p := r.plans[n]
	if p == nil || len(p.Candidates) == 0 {
		return
	}
	r.candidates[n] = newDocumentSet(p.Candidates)
	if p.listsErr != nil {
		r.fail(p, p.listsErr)
	}
}

// at returns what is known of a document, for more to be noted there.
func (r *ranker) at(shard int, doc uint16) *evidence {
	key := documentKey{shard, doc}
	e := r.evidence[key]
	if e == nil {
		e = &evidence{defined: map[string]float64{}}
		r.evidence[key] = e
	}
	return e
}

// try runs f. Only order depends on it, so a panic over damaged lists is noted like
// any fault.
func (r *ranker) try(f func()) {
	var err error
	func() {
		defer shardplan.Recovered(&err)
		f()
	}()
	if err != nil {
		r.fail(nil, err)
	}
}

// best returns the most promising documents.
func (r *ranker) best() []TopDocument {
	all := r.sorted(func(documentKey, *evidence) bool { return true })
	return all[:min(len(all), r.task.TopDocuments)]
}

// sorted returns the documents that ok reports true for, the most promising
// first.
func (r *ranker) sorted(ok func(documentKey, *evidence) bool) []TopDocument {
	var out []TopDocument
	for key, e := range r.evidence {
		if ok(key, e) {
			out = append(out, TopDocument{key.shard, key.doc, r.points(key, e)})
		}
	}
	slices.SortFunc(out, func(a, b TopDocument) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Doc, b.Doc))
	})
	return out
}

// points rates a document by what is known of it before it is read.
func (r *ranker) points(key documentKey, e *evidence) float64 {
	docs := r.plans[key.shard].Docs
	s := score.Document{Patterns: e.path, Quality: docs.Quality[key.doc], Prose: r.plans[key.shard].IsProse(key.doc)}
	// Summed in the order of the terms: sums of floats depend on it.
	for _, b := range r.queries {
		for _, t := range b.Terms {
			s.Patterns += t.Share * e.defined[t.Text]
		}
	}
	if words := r.words[key.shard]; words != nil {
		s.Patterns += words[key.doc]
	}
	if e.phrase {
		s.Phrase = score.PhraseWhole
	}
	return s.Sum(docs.Path(int(key.doc)))
}

// fail notes that what only the order depends on could not be read, of one shard
// or of some.
func (r *ranker) fail(p *Plan, err error) {
	name := "definitions unreadable"
	if p != nil {
		name = fmt.Sprintf("definitions of shard %d unreadable", p.View.ID)
	}
	r.task.Note(name, report.Text("error", err.Error()))
}

// trace records what was read.
func (r *ranker) trace(name string, start time.Time, fields ...report.Field) {
	fields = append(fields, report.Count("symbol groups", r.groups), report.Count("paths", r.paths), report.Count("texts", r.texts))
	r.task.Step(name, start, r.task.Details(fields...)...)
}
