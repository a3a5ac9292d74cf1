package rank

import (
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/ident"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/shard"
)

// minPart is the shortest term that is looked for within names, and maxParts
// the most groups that are read for one beside others.
const (
	minPart  = 3
	maxParts = 256
)

// findNamed finds the definitions that have a term of b for a name. It returns the
// terms that none has, and that may be part of a name.
func (r *ranker) findNamed(b *target.Query) (unknown []compile.Term) {
	exact := r.groupsOf(b.Terms, func(p *Plan, t compile.Term) *postings.Set { return p.groups[t.Text] })
	known := map[string]bool{}
	var whole []string
	for _, t := range b.Terms {
		whole = append(whole, t.Text)
	}
	for g, s := range r.read(exact, whole, "") {
		for _, t := range b.Terms {
			if ident.Fold(s.Name) == t.Text {
				known[t.Text] = true
				r.addDefinition(g, s, t, 0, len(t.Text))
			}
		}
	}
	for _, t := range b.Terms {
		if t.Part && !known[t.Text] && len(t.Text) >= minPart {
			unknown = append(unknown, t)
		}
	}
	return unknown
}

// findParts finds the definitions whose names hold one of terms, which are of b.
func (r *ranker) findParts(b *target.Query, terms []compile.Term) {
	for _, t := range terms {
		groups := r.groupsOf([]compile.Term{t}, func(p *Plan, t compile.Term) *postings.Set {
			set, err := shardplan.Groups(p.symbols, t.Inside)
			if err != nil {
				r.fail(p, err)
			}
			return set
		})
		if len(b.Terms) > 1 && len(groups) > maxParts {
			continue // a word such as struct
		}
		for g, s := range r.read(groups, nil, t.Text) {
			at := shard.IndexFolded([]byte(s.Name), t.Text)
			r.addDefinition(g, s, t, at, at+len(t.Text))
		}
	}
}

// sameName are definitions of one kind that have a term for a name, or in it.
type sameName struct {
	term, kind string
	whole      bool
}

// addDefinition records that a group has a symbol of whose name t is the part from lo
// to hi.
func (r *ranker) addDefinition(g *symbolGroup, s shard.Symbol, t compile.Term, lo, hi int) {
	p := r.plans[g.shard]
	p.Definitions.Add(g.doc, score.Definition{
		Symbol: s, Factor: score.KindFactor(s.Kind, s.Language, s.Name, p.Docs.Path(int(g.doc))), Term: t.Text, Lo: lo, Hi: hi,
	})
	k := sameName{t.Text, s.Kind, hi-lo == len(s.Name)}
	if r.lastNamed[k] != (documentKey{g.shard, g.doc}) || r.sameNames[k] == 0 {
		r.lastNamed[k] = documentKey{g.shard, g.doc}
		r.sameNames[k]++
	}
}

// rateDefinitions sets how rare each definition is, and notes its points.
func (r *ranker) rateDefinitions() {
	for n, p := range r.plans {
		if p == nil {
			continue
		}
		for doc, all := range p.Definitions.ByDocument {
			known := r.at(n, doc)
			for i := range all {
				d := &all[i]
				d.Rarity = score.Rarity(r.sameNames[sameName{d.Term, d.Kind, d.Hi-d.Lo == len(d.Name)}])
				known.defined[d.Term] = max(known.defined[d.Term], score.DefinitionPoints(d.Lo, d.Hi, d.Name, d.Factor)*d.Rarity)
			}
		}
	}
}
