package rank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/ident"
	"github.com/trawlsearch/trawl/query/search/score"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store/shard"
)

// readNames finds the groups of symbols that may have a term of the pass for a
// name, and the documents that may hold its phrase. Only order depends on it,
// so a fault goes to the trace and searches go on without.
func (p *Shard) readNames(ctx context.Context, in *shardplan.Reader, pass []*target.Query) (err error) {
	definitions := p.View.HasSymbols() && slices.ContainsFunc(pass, func(b *target.Query) bool { return len(b.Terms) > 0 })
	phrases := slices.ContainsFunc(pass, func(b *target.Query) bool { return b.PhraseMatcher != nil })
	if len(p.Candidates) == 0 || !definitions && !phrases {
		return nil
	}
	content := in.Content(p.View)
	content.Within = p.candidateGroups()
	defer func() {
		p.AddCost(content.Cost)
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	for k, b := range pass {
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
	if !definitions {
		return nil
	}
	// Terms are looked up as they are, so what folds to them from outside ASCII
	// does not matter. They are not confined to the candidates, of which few would
	// all be taken: a window asks before there are any, and has to find the same.
	p.symbols = in.Evaluator(p.View, shard.FieldSymbol, p.View.DocOf())
	if p.names == nil {
		p.names = map[string]*postings.Set{}
	}
	for _, b := range named(pass) {
		for _, t := range b.Terms {
			if p.names[t.Text] != nil {
				continue
			}
			if p.names[t.Text], err = shardplan.Groups(p.symbols, t.Whole); err != nil {
				return err
			}
		}
	}
	p.AddCost(p.symbols.Cost)
	return nil
}

// candidateGroups returns the groups of the candidates, nil when these are most
// of the documents.
func (p *Shard) candidateGroups() *postings.Set {
	if 2*len(p.Candidates) > p.Docs.Len() {
		return nil
	}
	return shardplan.BlocksOf(p.Docs, p.Candidates)
}

// groupPlace is where a group of names is: the place of its plan, its number and
// its document.
type groupPlace struct {
	shard      int
	block, doc uint16
}

// symbolGroup is a group of names to be read, and what was found in it.
type symbolGroup struct {
	groupPlace
	found []shard.Symbol
	err   error
}

// findDefinitions reads the definitions of b's terms. A term that no definition
// is called by is looked for within names.
func (h *ranker) findDefinitions(b *target.Query) {
	exact := h.groupsOf(b.Terms, func(p *Shard, t compile.Term) *postings.Set { return p.names[t.Text] })
	known := map[string]bool{}
	var whole []string
	for _, t := range b.Terms {
		whole = append(whole, t.Text)
	}
	h.read(exact, whole, "", func(g *symbolGroup, s shard.Symbol) {
		for _, t := range b.Terms {
			if ident.Fold(s.Name) == t.Text {
				known[t.Text] = true
				h.note(g, s, t, 0, len(t.Text))
			}
		}
	})
	var rest []compile.Term
	for _, t := range b.Terms {
		if t.Part && !known[t.Text] && len(t.Text) >= minPart {
			rest = append(rest, t)
		}
	}
	if h.more != nil {
		h.more(rest)
	}
	h.findParts(b, rest)
}

// minPart is the shortest term that is looked for within names, and maxParts
// the most groups that are read for one beside others.
const (
	minPart  = 3
	maxParts = 256
)

// findParts reads the definitions whose names hold one of terms.
func (h *ranker) findParts(b *target.Query, terms []compile.Term) {
	for _, t := range terms {
		groups := h.groupsOf([]compile.Term{t}, func(p *Shard, t compile.Term) *postings.Set {
			set, err := shardplan.Groups(p.symbols, t.Inside)
			if err != nil {
				h.fail(p, err)
			}
			return set
		})
		if len(b.Terms) > 1 && len(groups) > maxParts {
			continue // a word such as struct
		}
		h.read(groups, nil, t.Text, func(g *symbolGroup, s shard.Symbol) {
			at := shard.IndexFolded([]byte(s.Name), t.Text)
			h.note(g, s, t, at, at+len(t.Text))
		})
	}
}

// note records that a group has a symbol of whose name t is the part from lo to
// hi.
func (h *ranker) note(g *symbolGroup, s shard.Symbol, t compile.Term, lo, hi int) {
	p := h.plans[g.shard]
	p.Definitions.Add(g.doc, score.Definition{
		Symbol: s, Factor: score.KindFactor(s.Kind, s.Language, s.Name, p.Docs.Path(int(g.doc))), Term: t.Text, Lo: lo, Hi: hi,
	})
	k := sameName{t.Text, s.Kind, hi-lo == len(s.Name)}
	if h.lastNamed[k] != (documentKey{g.shard, g.doc}) || h.sameNames[k] == 0 {
		h.lastNamed[k] = documentKey{g.shard, g.doc}
		h.sameNames[k]++
	}
}

// sameName are definitions of one kind that have a term for a name, or in it.
type sameName struct {
	term, kind string
	whole      bool
}

// rate tells every definition how rare it is, and promises their points.
func (h *ranker) rate() {
	for n, p := range h.plans {
		if p == nil {
			continue
		}
		for doc, all := range p.Definitions.ByDocument {
			known := h.at(n, doc)
			for i := range all {
				d := &all[i]
				d.Rarity = score.Rarity(h.sameNames[sameName{d.Term, d.Kind, d.Hi-d.Lo == len(d.Name)}])
				known.defined[d.Term] = max(known.defined[d.Term], score.DefinitionPoints(d.Lo, d.Hi, d.Name, d.Factor)*d.Rarity)
			}
		}
	}
}

// groupsOf returns the groups of candidates that set gives for terms, those of
// the rarest term first, each once, and no more than may be read.
func (h *ranker) groupsOf(terms []compile.Term, set func(*Shard, compile.Term) *postings.Set) []symbolGroup {
	var lists [][]groupPlace
	for _, t := range terms {
		var list []groupPlace
		for n, p := range h.plans {
			if p == nil || p.symbols == nil || h.candidates[n] == nil {
				continue
			}
			list = appendPlaces(list, n, set(p, t), p.View.DocOf(), h.candidates[n])
		}
		lists = append(lists, list)
	}
	slices.SortStableFunc(lists, func(a, b []groupPlace) int { return len(a) - len(b) })
	seen := map[groupPlace]bool{}
	var out []symbolGroup
	for _, list := range lists {
		for _, at := range h.likely(list, maxGroups-h.groups-len(out)) {
			if !seen[at] {
				seen[at] = true
				out = append(out, symbolGroup{groupPlace: at})
			}
		}
	}
	return out
}

// appendPlaces appends the places of those groups of a shard whose documents are
// candidates.
func appendPlaces(dst []groupPlace, shard int, groups *postings.Set, docOf []uint16, candidates *documentSet) []groupPlace {
	last, holds := -1, false
	for block := range groups.All() {
		doc := docOf[block]
		if int(doc) != last {
			last, holds = int(doc), candidates.contains(doc)
		}
		if holds {
			dst = append(dst, groupPlace{shard, block, doc})
		}
	}
	return dst
}

// likely returns n of list, or all if there are no more. Of more than n they are
// the first by rank, in that order.
func (h *ranker) likely(list []groupPlace, n int) []groupPlace {
	switch {
	case n <= 0:
		return nil
	case len(list) <= n:
		return list
	}
	var least []uint64 // in order: ranks, and places in list
	last, rank := groupPlace{shard: -1}, uint64(0)
	for i, at := range list {
		if at.shard != last.shard || at.doc != last.doc {
			last, rank = at, h.rank(at)
		}
		k := rank<<32 | uint64(i)
		if len(least) == n {
			if k > least[n-1] {
				continue
			}
			least = least[:n-1]
		}
		j, _ := slices.BinarySearch(least, k)
		least = slices.Insert(least, j, k)
	}
	out := make([]groupPlace, len(least))
	for j, k := range least {
		out[j] = list[uint32(k)]
	}
	return out
}

// rank orders groups by their documents: what is no test, is code and stands
// high in the tree comes first.
func (h *ranker) rank(at groupPlace) uint64 {
	p := h.plans[at.shard]
	rank := uint64(p.Docs.Quality[at.doc])<<17 + uint64(p.Docs.Depth(int(at.doc)))
	if p.IsProse(at.doc) {
		rank += 1 << 16
	}
	return rank
}

// read reads groups, on all workers, and calls each, in the order of groups, with
// the symbols whose names are one of whole or hold part.
func (h *ranker) read(groups []symbolGroup, whole []string, part string, each func(*symbolGroup, shard.Symbol)) {
	h.groups += len(groups)
	// Neighbours in the store are read one after the other.
	order := make([]*symbolGroup, len(groups))
	for i := range groups {
		order[i] = &groups[i]
	}
	slices.SortFunc(order, func(a, b *symbolGroup) int { return cmp.Or(a.shard-b.shard, int(a.block)-int(b.block)) })
	var next atomic.Int64
	work := func() {
		lists := h.task.Snapshot.ListReader()
		defer func() { _ = lists.Close() }() // an error of reading was reported when it was
		wanted := shard.NewSymbolFinder(whole, part)
		for {
			end := int(next.Add(groupsAtOnce))
			for i := end - groupsAtOnce; i < min(end, len(order)); i++ {
				order[i].read(h.plans[order[i].shard].View, lists, wanted)
			}
			if end >= len(order) {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(h.task.Workers, len(groups)/groupsPerWorker+1) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	var errs []error
	for i := range groups {
		g := &groups[i]
		if g.err != nil {
			errs = append(errs, g.err)
		}
		for _, s := range g.found {
			each(g, s)
		}
	}
	if len(errs) > 0 {
		h.fail(nil, errors.Join(errs...))
	}
}

// read reads the group. A panic over it is an error.
func (g *symbolGroup) read(v shard.View, lists *shard.ListReader, wanted *shard.SymbolFinder) {
	defer func() {
		if x := recover(); x != nil {
			g.err = fmt.Errorf("panic: %v", x)
		}
	}()
	g.found, g.err = v.FindSymbols(nil, lists, g.block, wanted)
}

// groupsPerWorker is how many groups make it worth to wake another worker, and
// groupsAtOnce how many neighbours one takes.
const (
	groupsPerWorker = 128
	groupsAtOnce    = 16
)
