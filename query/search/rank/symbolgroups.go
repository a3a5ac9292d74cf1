package rank

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/store/shard"
)

// maxGroups is how many groups of symbols are read to find definitions: a few
// milliseconds' worth.
const maxGroups = 512

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

// groupsPerWorker is how many groups make it worth to wake another worker, and
// groupsAtOnce how many neighbours one takes.
const (
	groupsPerWorker = 128
	groupsAtOnce    = 16
)

// groupsOf returns the groups of candidates that set gives for terms, those of
// the rarest term first, each once, and no more than may be read.
func (r *ranker) groupsOf(terms []compile.Term, set func(*Plan, compile.Term) *postings.Set) []symbolGroup {
	var lists [][]groupPlace
	for _, t := range terms {
		var list []groupPlace
		for n, p := range r.plans {
			if p == nil || p.symbols == nil || r.candidates[n] == nil {
				continue
			}
			list = appendPlaces(list, n, set(p, t), p.View.DocOf(), r.candidates[n])
		}
		lists = append(lists, list)
	}
	slices.SortStableFunc(lists, func(a, b []groupPlace) int { return len(a) - len(b) })
	seen := map[groupPlace]bool{}
	var out []symbolGroup
	for _, list := range lists {
		for _, at := range r.likely(list, maxGroups-r.groups-len(out)) {
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
func (r *ranker) likely(list []groupPlace, n int) []groupPlace {
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
			last, rank = at, r.rank(at)
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
func (r *ranker) rank(at groupPlace) uint64 {
	p := r.plans[at.shard]
	rank := uint64(p.Docs.Quality[at.doc])<<17 + uint64(p.Docs.Depth(int(at.doc)))
	if p.IsProse(at.doc) {
		rank += 1 << 16
	}
	return rank
}

// read reads groups, on all workers, and yields, in the order of groups, the symbols
// whose names are one of whole or hold part.
func (r *ranker) read(groups []symbolGroup, whole []string, part string) iter.Seq2[*symbolGroup, shard.Symbol] {
	r.groups += len(groups)
	// Neighbours in the store are read one after the other.
	order := make([]*symbolGroup, len(groups))
	for i := range groups {
		order[i] = &groups[i]
	}
	slices.SortFunc(order, func(a, b *symbolGroup) int { return cmp.Or(a.shard-b.shard, int(a.block)-int(b.block)) })
	var next atomic.Int64
	work := func() {
		lists := r.task.Snapshot.ListReader()
		defer func() { _ = lists.Close() }() // an error of reading was reported when it was
		wanted := shard.NewSymbolFinder(whole, part)
		for {
			end := int(next.Add(groupsAtOnce))
			for i := end - groupsAtOnce; i < min(end, len(order)); i++ {
				order[i].read(r.plans[order[i].shard].View, lists, wanted)
			}
			if end >= len(order) {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(r.task.Workers, len(groups)/groupsPerWorker+1) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	var errs []error
	for i := range groups {
		errs = append(errs, groups[i].err)
	}
	if err := errors.Join(errs...); err != nil {
		r.fail(nil, err)
	}
	return func(yield func(*symbolGroup, shard.Symbol) bool) {
		for i := range groups {
			for _, s := range groups[i].found {
				if !yield(&groups[i], s) {
					return
				}
			}
		}
	}
}

// read reads the group. A panic over it is an error.
func (g *symbolGroup) read(v shard.View, lists *shard.ListReader, wanted *shard.SymbolFinder) {
	defer shardplan.Recovered(&g.err)
	g.found, g.err = v.FindSymbols(nil, lists, g.block, wanted)
}
