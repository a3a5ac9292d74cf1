package target

import (
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/store"
)

// Repository is a repository that a basic query searches.
type Repository struct {
	Stored *store.Repository
	Shown  *query.Repository
	// Revisions are those to search, in the order of the query.
	Revisions []*Revision
	// Excluded are commits whose history a search of commits leaves out.
	Excluded []string
}

// With returns r with the revisions of another target of its repository, nil
// for none, added to its own.
func (r *Repository) With(other *Repository) *Repository {
	if other == nil {
		return r
	}
	joined := *r
	joined.Revisions = slices.Concat(r.Revisions, other.Revisions)
	return &joined
}

// Key identifies the documents of a revision: two revisions with one key hold the
// same.
type Key struct {
	Repository uint32
	Commit     string
}

// Key returns the key of a revision of r.
func (r *Repository) Key(rev *Revision) Key { return Key{r.Stored.ID, rev.Commit} }

// MayBeIn reports whether a revision of r may have documents in the shard.
func (r *Repository) MayBeIn(shard uint32) bool {
	return slices.ContainsFunc(r.Revisions, func(rev *Revision) bool { return rev.MayBeIn(shard) })
}

// MayBeIn reports whether the revision may have documents in a shard.
func (rev *Revision) MayBeIn(shard uint32) bool {
	return rev.Branch >= 0 || rev.Files != nil && rev.Files.In[shard] != nil
}

// HasUnindexed reports whether files of r are read through git.
func (r *Repository) HasUnindexed() bool {
	return slices.ContainsFunc(r.Revisions, func(rev *Revision) bool { return rev.Files != nil && len(rev.Files.Unindexed) > 0 })
}

// In returns a test of whether documents of a target may be in one of some sources.
func In(sources []Source) func(*Repository) bool {
	shards, repositories := map[uint32]bool{}, map[uint32]bool{}
	for _, src := range sources {
		if src.Unindexed != nil {
			repositories[src.Unindexed.Repository.ID] = true
		} else {
			shards[src.View.ID] = true
		}
	}
	return func(t *Repository) bool {
		return repositories[t.Stored.ID] || slices.ContainsFunc(t.Stored.Shards, func(id uint32) bool { return shards[id] })
	}
}
