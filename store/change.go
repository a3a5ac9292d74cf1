package store

import (
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// Change is what a transaction does to repositories and shards.
type Change struct {
	// Repositories are put in place of the records with their IDs, whose facts
	// they keep: those only ChangeFacts changes.
	Repositories []*Repository
	// Remove are IDs of repositories to forget.
	Remove []uint32
	// Add are shards that were written and now become visible.
	Add []shard.Header
	// Drop are shards to delete. Quarantined ones are deleted by themselves
	// once no repository refers to them.
	Drop []uint32
	// Dead are the sets of dead documents that replace those of their shards.
	Dead map[uint32]*postings.Set
	// Away are the sets of View.Away that replace those of a repository in a
	// shard, nil for none.
	Away map[ShardRepository][]*postings.Set
	// Symbols mark shards whose symbols were written.
	Symbols map[uint32]shard.SymbolCounts
	// People replace those of their repositories.
	People map[uint32]People
}

// operations returns what c does to a store with catalogue base.
func (c *Change) operations(base *catalogue) (ops []operation, err error) {
	for _, r := range c.Repositories {
		if old := base.repository(r.ID); old != nil {
			r.keepFacts(old)
		}
		ops = append(ops, base.putOperation(r))
	}
	for _, id := range c.Remove {
		ops = append(ops, base.removeOperations(id)...)
	}
	for _, h := range c.Add {
		ops = append(ops, headerOperation{h.ID, &h})
	}
	for id, set := range c.Dead {
		ops = append(ops, deadOperation{id, set})
	}
	for of, sets := range c.Away {
		ops = append(ops, exclusionOperation{of, sets})
	}
	for id, people := range c.People {
		ops = append(ops, peopleOperation(id, people))
	}
	for id, counts := range c.Symbols {
		old := base.shard(id)
		if old == nil {
			return nil, fmt.Errorf("symbols of shard %d, which is not there", id)
		}
		h := old.Header
		h.Symbols = &counts
		ops = append(ops, headerOperation{id, &h})
	}
	for _, id := range c.Drop {
		ops = append(ops, base.dropOperations(id)...)
	}
	return ops, nil
}

// putOperation returns the operation that puts r in the place of the record with
// its ID. It keeps when the source was last looked at.
func (c *catalogue) putOperation(r *Repository) operation {
	r.shareFetched(c.repository(r.ID))
	r.shareTexts()
	return repositoryOperation{r.ID, r}
}

// removeOperations returns what removes a repository and all records about it,
// those of its documents excepted. The exclusions of one that is lost may be in
// any shard.
func (c *catalogue) removeOperations(id uint32) (ops []operation) {
	shards := c.away.Keys()
	if r := c.repository(id); r != nil {
		shards = r.Shards
	}
	for _, sh := range shards {
		if inner, found := c.away.Get(sh); found {
			if _, found := inner.Get(id); found {
				ops = append(ops, exclusionOperation{of: ShardRepository{sh, id}})
			}
		}
	}
	return append(ops, repositoryOperation{id: id}, valueOperation{name: keyPeople(id)}, valueOperation{name: keyRecord(RecordOwners, ownersID(id))})
}

// dropOperations returns what deletes a shard and all records about it.
func (c *catalogue) dropOperations(id uint32) (ops []operation) {
	if inner, found := c.away.Get(id); found {
		inner.Scan(func(repository uint32, _ []*postings.Set) bool {
			ops = append(ops, exclusionOperation{of: ShardRepository{id, repository}})
			return true
		})
	}
	return append(ops, headerOperation{shard: id}, deadOperation{shard: id})
}

// unwantedOperations returns what deletes the quarantined shards that no
// repository refers to any more.
func (c *catalogue) unwantedOperations() (ops []operation) {
	c.aside.Scan(func(id uint32, _ *shard.Quarantine) bool {
		if !c.isHeld(id) {
			ops = slices.Concat(ops, c.dropOperations(id))
		}
		return true
	})
	return ops
}
