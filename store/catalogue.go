package store

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/tidwall/btree"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// catalogue holds the small records in memory: one immutable value per commit.
// Its trees share what did not change with those of the version before. So a
// clone costs nothing, a change costs what it changes, and no reader sorts.
type catalogue struct {
	repositories *btree.Map[uint32, *Repository]
	byName       *btree.Map[string, *Repository]
	// listed are the repositories in the order in which they are listed, marked
	// those with a mark, in the same order.
	listed *btree.BTreeG[*Repository]
	marked [marks]*btree.BTreeG[*Repository]
	// all, ids, names and facts are made when they are asked for.
	all   *lazyIDs
	ids   [marks]*lazyIDs
	names *lazyNames
	facts *lazyFacts
	// holders say which repositories have something in a shard.
	holders *btree.BTreeG[holder]

	shards *btree.Map[uint32, *shard.Shard]
	// visited are the shards in the order of searches.
	visited *btree.BTreeG[visit]
	dead    *btree.Map[uint32, *postings.Set]
	// away has the sets of View.Away by shard and repository.
	away *btree.Map[uint32, *shard.Exclusions]
	// aside are the quarantined shards, which no reader sees.
	aside *btree.Map[uint32, *shard.Quarantine]

	// unread are the records that could not be decoded at the opening, in words,
	// and lost are those of repositories among them.
	unread []string
	lost   []LostRepository
}

func newCatalogue() *catalogue {
	c := &catalogue{
		repositories: &btree.Map[uint32, *Repository]{}, byName: &btree.Map[string, *Repository]{},
		listed: ordered(CompareListed), all: &lazyIDs{}, names: &lazyNames{}, facts: &lazyFacts{}, holders: ordered(compareHolders),
		shards: &btree.Map[uint32, *shard.Shard]{}, visited: ordered(compareVisits),
		dead: &btree.Map[uint32, *postings.Set]{}, away: &btree.Map[uint32, *shard.Exclusions]{},
		aside: &btree.Map[uint32, *shard.Quarantine]{},
	}
	for m := range c.marked {
		c.marked[m], c.ids[m] = ordered(CompareListed), &lazyIDs{}
	}
	return c
}

// ordered returns an empty tree. A change has its catalogue alone, and a
// published one is only read, so that no lock is needed.
func ordered[T any](compare func(a, b T) int) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(func(a, b T) bool { return compare(a, b) < 0 }, btree.Options{NoLocks: true})
}

func (c *catalogue) clone() *catalogue {
	next := &catalogue{
		repositories: c.repositories.Copy(), byName: c.byName.Copy(), listed: c.listed.Copy(), all: c.all, ids: c.ids, names: c.names, facts: c.facts, holders: c.holders.Copy(),
		shards: c.shards.Copy(), visited: c.visited.Copy(), dead: c.dead.Copy(), away: c.away.Copy(), aside: c.aside.Copy(),
		unread: c.unread, lost: c.lost,
	}
	for m := range c.marked {
		next.marked[m] = c.marked[m].Copy()
	}
	return next
}

// CompareListed compares repositories by the order in which they are listed: stars
// descending, then ID descending.
func CompareListed(a, b *Repository) int {
	return cmp.Or(cmp.Compare(b.Stars, a.Stars), cmp.Compare(b.ID, a.ID))
}

// holder says that a repository has something in a shard. stars are 0 for a shard
// of commits.
type holder struct {
	shard, repository uint32
	stars             int
}

// compareHolders puts the best repository of a shard first.
func compareHolders(a, b holder) int {
	return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(b.stars, a.stars), cmp.Compare(a.repository, b.repository))
}

// holdersOf yields what a repository has.
func holdersOf(r *Repository) iter.Seq[holder] {
	return func(yield func(holder) bool) {
		for _, id := range r.Shards {
			if !yield(holder{id, r.ID, r.Stars}) {
				return
			}
		}
		for _, id := range r.History.Shards {
			if !yield(holder{id, r.ID, 0}) {
				return
			}
		}
	}
}

// holding yields the repositories that have something in a shard, the best one
// first.
func (c *catalogue) holding(shard uint32) iter.Seq[holder] {
	return func(yield func(holder) bool) {
		c.holders.Ascend(holder{shard: shard, stars: math.MaxInt}, func(h holder) bool { return h.shard == shard && yield(h) })
	}
}

// isHeld reports whether a repository has something in a shard.
func (c *catalogue) isHeld(shard uint32) bool {
	for range c.holding(shard) {
		return true
	}
	return false
}

// visit is the place of a shard in the order of searches: stars of the best
// repository first, then quality of documents, then age. A search reads on in
// this order, so that stopping early loses the worse.
type visit struct {
	stars   int
	quality byte
	shard   uint32
}

func compareVisits(a, b visit) int {
	return cmp.Or(cmp.Compare(b.stars, a.stars), cmp.Compare(a.quality, b.quality), cmp.Compare(a.shard, b.shard))
}

func (c *catalogue) visitOf(sh *shard.Shard) visit {
	v := visit{quality: sh.Header.Quality, shard: sh.ID}
	for h := range c.holding(sh.ID) {
		v.stars = h.stars
		break
	}
	return v
}

// reorder calls change, which changes what the places of some shards depend on.
func (c *catalogue) reorder(ids []uint32, change func()) {
	for _, id := range ids {
		if sh, ok := c.shards.Get(id); ok {
			c.visited.Delete(c.visitOf(sh))
		}
	}
	change()
	for _, id := range ids {
		if sh, ok := c.shards.Get(id); ok {
			c.visited.Set(c.visitOf(sh))
		}
	}
}

// repository returns the one with an ID, or nil.
func (c *catalogue) repository(id uint32) *Repository {
	r, _ := c.repositories.Get(id)
	return r
}

// named returns the repository of a name, or nil.
func (c *catalogue) named(name string) *Repository {
	r, _ := c.byName.Get(name)
	return r
}

// shard returns the one with an ID, or nil.
func (c *catalogue) shard(id uint32) *shard.Shard {
	sh, _ := c.shards.Get(id)
	return sh
}

// putRepository puts a record in the place of the one with its ID, if there is
// one.
func (c *catalogue) putRepository(r *Repository) {
	old := c.repository(r.ID)
	if old == nil || old.Name != r.Name {
		c.names = &lazyNames{}
	}
	if old == nil {
		c.all = &lazyIDs{}
	}
	if old == nil && hasFacts(r) || old != nil && !sameFacts(old, r) {
		c.facts = &lazyFacts{}
	}
	for m := range c.ids {
		if (old != nil && Mark(m).Of(old)) != Mark(m).Of(r) {
			c.ids[m] = &lazyIDs{}
		}
	}
	if old != nil && old.Stars == r.Stars && slices.Equal(old.Shards, r.Shards) && slices.Equal(old.History.Shards, r.History.Shards) {
		c.unlist(old)
		c.list(r)
		return
	}
	ids := slices.Concat(r.Shards, r.History.Shards)
	if old != nil {
		ids = slices.Concat(ids, old.Shards, old.History.Shards)
	}
	c.reorder(ids, func() {
		if old != nil {
			c.unlist(old)
			c.release(old)
		}
		c.list(r)
		for h := range holdersOf(r) {
			c.holders.Set(h)
		}
	})
}

func (c *catalogue) removeRepository(old *Repository) {
	c.all, c.names = &lazyIDs{}, &lazyNames{}
	if hasFacts(old) {
		c.facts = &lazyFacts{}
	}
	for m := range c.ids {
		if Mark(m).Of(old) {
			c.ids[m] = &lazyIDs{}
		}
	}
	c.reorder(slices.Concat(old.Shards, old.History.Shards), func() {
		c.unlist(old)
		c.release(old)
	})
}

// release takes a repository from its shards.
func (c *catalogue) release(r *Repository) {
	for h := range holdersOf(r) {
		c.holders.Delete(h)
	}
}

// list takes a record into all indexes by facts.
func (c *catalogue) list(r *Repository) {
	c.repositories.Set(r.ID, r)
	c.byName.Set(r.Name, r)
	c.listed.Set(r)
	for m := range c.marked {
		if Mark(m).Of(r) {
			c.marked[m].Set(r)
		}
	}
}

func (c *catalogue) unlist(r *Repository) {
	c.repositories.Delete(r.ID)
	c.byName.Delete(r.Name)
	c.listed.Delete(r)
	for m := range c.marked {
		if Mark(m).Of(r) {
			c.marked[m].Delete(r)
		}
	}
}

// putShard adds a shard, or gives one another header.
func (c *catalogue) putShard(sh *shard.Shard) {
	c.reorder([]uint32{sh.ID}, func() { c.shards.Set(sh.ID, sh) })
}

// dropShard forgets a shard and all that is known of it.
func (c *catalogue) dropShard(id uint32) {
	c.reorder([]uint32{id}, func() { c.shards.Delete(id) })
	c.dead.Delete(id)
	c.aside.Delete(id)
	c.away.Delete(id)
}
