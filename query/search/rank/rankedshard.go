package rank

import (
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
)

// Shard is a planned shard with what ranks its documents.
type Shard struct {
	*shardplan.Plan
	// symbols evaluates expressions on names, which it does for names: the
	// groups of symbols that may have one called so. It is nil when the shard has no
	// symbols, or they were not asked for; what a window found before is in names
	// all the same.
	symbols *postings.Evaluator
	names   map[string]*postings.Set
	// phrases are, for each basic query, where its phrase may stand, nil for
	// unknown.
	phrases []*postings.Candidates
	// Definitions are those of the query's names, and Top the documents that
	// are ranked before all others.
	Definitions *score.Definitions
	Top         *postings.Set
	// namesRead says that all of names was read, and namesErr why it was not.
	namesRead bool
	namesErr  error
}

// NewShard returns a planned shard of which nothing is ranked.
func NewShard(p *shardplan.Plan) *Shard {
	made := &struct { // one allocation for a plan of one basic query
		Shard
		definitions score.Definitions
		phrase      [1]*postings.Candidates
	}{}
	made.Shard = Shard{Plan: p, phrases: made.phrase[:], Definitions: &made.definitions}
	if len(p.Basics) != 1 {
		made.phrases = make([]*postings.Candidates, len(p.Basics))
	}
	return &made.Shard
}

// maxNames is how many words of a pass are looked for among the names of symbols.
const maxNames = 64

// named are the basic queries of a pass, from the first on, whose words are looked
// for among names of symbols.
func named(pass []*target.Query) []*target.Query {
	names := 0
	for i, b := range pass {
		if names += len(b.Terms); i > 0 && names > maxNames {
			return pass[:i]
		}
	}
	return pass
}
