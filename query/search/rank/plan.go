package rank

import (
	"context"
	"iter"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store/shard"
)

// Plan is a planned shard with what ranks its documents.
type Plan struct {
	*shardplan.Plan
	// symbols evaluates expressions on names. It is nil when the shard has no
	// symbols, or they were not asked for.
	symbols *postings.Evaluator
	// groups are, by the text of a term, the groups of symbols that may have one
	// with that name. They may be known before symbols is there.
	groups map[string]*postings.Set
	// phrases are, for each basic query, where its phrase may stand, nil for
	// unknown.
	phrases []*postings.Candidates
	// Definitions are those of the query's names, and Top the documents that
	// are ranked before all others.
	Definitions *score.Definitions
	Top         *postings.Set
	// listsRead says that all of groups and phrases was read, and listsErr why it
	// was not.
	listsRead bool
	listsErr  error
}

// NewPlan returns a planned shard of which nothing is ranked.
func NewPlan(p *shardplan.Plan) *Plan {
	made := &struct { // one allocation for a plan of one basic query
		Plan
		definitions score.Definitions
		phrase      [1]*postings.Candidates
	}{}
	made.Plan = Plan{Plan: p, phrases: made.phrase[:], Definitions: &made.definitions}
	if len(p.Basics) != 1 {
		made.phrases = make([]*postings.Candidates, len(p.Basics))
	}
	return &made.Plan
}

// maxNames is how many words of the queries of a search are looked for among the names
// of symbols.
const maxNames = 64

// named returns the first of queries: those whose words are looked for among the names
// of symbols.
func named(queries []*target.Query) []*target.Query {
	names := 0
	for i, b := range queries {
		if names += len(b.Terms); i > 0 && names > maxNames {
			return queries[:i]
		}
	}
	return queries
}

// readLists finds, once, the groups of symbols that may have a term of queries for a
// name, and the documents that may hold one of their phrases. Only order depends on
// them, so a fault is kept for the trace and searches go on without.
func (p *Plan) readLists(ctx context.Context, t *task.Task, in *shardplan.Reader, queries []*target.Query) {
	if p.listsRead || t.Visible.IsShared(p.View.ID) && !t.Brute {
		return
	}
	p.listsRead = true
	hasTerms := slices.ContainsFunc(queries, func(b *target.Query) bool { return len(b.Terms) > 0 })
	if len(p.Candidates) == 0 {
		return
	}
	if p.listsErr = p.readPhrases(ctx, in, queries); p.listsErr == nil && hasTerms && p.View.HasSymbols() {
		p.listsErr = p.readGroups(ctx, in, queries)
	}
}

// readPhrases finds the documents that may hold the phrases of queries. A panic over
// a damaged shard is an error.
func (p *Plan) readPhrases(ctx context.Context, in *shardplan.Reader, queries []*target.Query) (err error) {
	if !slices.ContainsFunc(queries, func(b *target.Query) bool { return b.PhraseMatcher != nil }) {
		return nil
	}
	defer shardplan.Recovered(&err)
	content := in.Content(p.View)
	content.Within = p.candidateGroups()
	defer func() { p.AddCost(content.Cost) }()
	for k, b := range queries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.PhraseMatcher == nil {
			continue
		}
		c, err := content.Eval(b.PhraseMatcher.Expr)
		if err != nil {
			return err
		}
		if !c.All {
			p.phrases[k] = &c
		}
	}
	return nil
}

// readGroups finds the groups of symbols that may have a term of queries for a name.
// A panic over a damaged shard is an error.
//
// Terms are looked up as they are, so what folds to them from outside ASCII does not
// matter. They are not confined to the candidates, of which few would all be taken:
// a window asks before there are any, and has to find the same.
func (p *Plan) readGroups(ctx context.Context, in *shardplan.Reader, queries []*target.Query) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer shardplan.Recovered(&err)
	p.symbols = in.Evaluator(p.View, shard.FieldSymbol)
	defer func() { p.AddCost(p.symbols.Cost) }()
	if p.groups == nil {
		p.groups = map[string]*postings.Set{}
	}
	for _, b := range named(queries) {
		for _, t := range b.Terms {
			if p.groups[t.Text] != nil {
				continue
			}
			if p.groups[t.Text], err = shardplan.Groups(p.symbols, t.Whole); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidateGroups returns the groups of the candidates, nil when these are most
// of the documents.
func (p *Plan) candidateGroups() *postings.Set {
	if 2*len(p.Candidates) > p.Docs.Len() {
		return nil
	}
	return shardplan.BlocksOf(p.Docs, p.Candidates)
}

// withPhrase yields the documents of candidates that may hold the phrase of basic
// query k, by its posting lists.
func (p *Plan) withPhrase(k int, candidates *documentSet) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for doc := range p.phrases[k].Docs.All() {
			if candidates.contains(doc) && !p.IsUnindexed(doc) && !yield(doc) {
				return
			}
		}
	}
}
