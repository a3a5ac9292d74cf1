package store

import (
	"slices"

	"github.com/tidwall/btree"
	"github.com/trawlsearch/trawl/store/shard"
)

// catalogue holds the small records in memory: one immutable value per commit.
// Its trees share what did not change with those of the version before. So a
// clone costs nothing, a change costs what it changes, and no reader sorts.
type catalogue struct {
	repositoryTable
	shardTable

	// unread are the records that could not be decoded at the opening, in words,
	// and lost are those of repositories among them.
	unread []string
	lost   []LostRepository
}

func newCatalogue() *catalogue {
	return &catalogue{repositoryTable: newRepositoryTable(), shardTable: newShardTable()}
}

// ordered returns an empty tree. A change has its catalogue alone, and a
// published one is only read, so that no lock is needed.
func ordered[T any](compare func(a, b T) int) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(func(a, b T) bool { return compare(a, b) < 0 }, btree.Options{NoLocks: true})
}

func (c *catalogue) clone() *catalogue {
	return &catalogue{repositoryTable: c.repositoryTable.clone(), shardTable: c.shardTable.clone(), unread: c.unread, lost: c.lost}
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
		if sh, ok := c.byNumber.Get(id); ok {
			c.visited.Delete(c.visitOf(sh))
		}
	}
	change()
	for _, id := range ids {
		if sh, ok := c.byNumber.Get(id); ok {
			c.visited.Set(c.visitOf(sh))
		}
	}
}

// putRepository puts a record in the place of the one with its ID, if there is
// one.
func (c *catalogue) putRepository(r *Repository) {
	old := c.repository(r.ID)
	c.index(old, r)
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
	c.index(old, nil)
	c.reorder(slices.Concat(old.Shards, old.History.Shards), func() {
		c.unlist(old)
		c.release(old)
	})
}

// putShard adds a shard, or gives one another header.
func (c *catalogue) putShard(sh *shard.Shard) {
	c.reorder([]uint32{sh.ID}, func() { c.byNumber.Set(sh.ID, sh) })
}

// dropShard forgets a shard and all that is known of it.
func (c *catalogue) dropShard(id uint32) {
	c.reorder([]uint32{id}, func() { c.byNumber.Delete(id) })
	c.dead.Delete(id)
	c.aside.Delete(id)
	c.away.Delete(id)
}
