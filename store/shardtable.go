package store

import (
	"cmp"

	"github.com/tidwall/btree"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// shardTable has the records of shards.
type shardTable struct {
	byNumber *btree.Map[uint32, *shard.Shard]
	// visited are the shards in the order of searches.
	visited *btree.BTreeG[visit]
	dead    *btree.Map[uint32, *postings.Set]
	// away has the sets of View.Away by shard and repository.
	away *btree.Map[uint32, *shard.Exclusions]
	// aside are the quarantined shards, which no reader sees.
	aside *btree.Map[uint32, *shard.Quarantine]
}

func newShardTable() shardTable {
	return shardTable{
		byNumber: &btree.Map[uint32, *shard.Shard]{}, visited: ordered(compareVisits), dead: &btree.Map[uint32, *postings.Set]{},
		away: &btree.Map[uint32, *shard.Exclusions]{}, aside: &btree.Map[uint32, *shard.Quarantine]{},
	}
}

// clone returns a table of its own, whose trees share what does not change.
func (t shardTable) clone() shardTable {
	return shardTable{byNumber: t.byNumber.Copy(), visited: t.visited.Copy(), dead: t.dead.Copy(), away: t.away.Copy(), aside: t.aside.Copy()}
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

// shard returns the one with an ID, or nil.
func (t *shardTable) shard(id uint32) *shard.Shard {
	sh, _ := t.byNumber.Get(id)
	return sh
}

// inService reports whether there is a shard, and it is not quarantined.
func (t *shardTable) inService(id uint32) bool {
	_, aside := t.aside.Get(id)
	return !aside && t.shard(id) != nil
}
