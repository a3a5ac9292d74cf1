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

// With returns t with the revisions of another target of its repository, nil
// for none, added to its own.
func (t *Repository) With(other *Repository) *Repository {
	if other == nil {
		return t
	}
	joined := *t
	joined.Revisions = slices.Concat(t.Revisions, other.Revisions)
	return &joined
}

// Key identifies the documents of a revision: two revisions with one key hold the
// same.
type Key struct {
	Repository uint32
	Commit     string
}

// Key returns the key of a revision of t.
func (t *Repository) Key(rev *Revision) Key { return Key{t.Stored.ID, rev.Commit} }

// MayReach reports whether a revision of t may have documents in the shard.
func (t *Repository) MayReach(shard uint32) bool {
	return slices.ContainsFunc(t.Revisions, func(rev *Revision) bool { return rev.MayReach(shard) })
}

// MayReach reports whether the revision may have documents in a shard.
func (rev *Revision) MayReach(shard uint32) bool {
	return rev.Branch >= 0 || rev.Files != nil && rev.Files.In[shard] != nil
}

// IsIn reports whether documents of t may be in one of the sources.
func IsIn(t *Repository, sources []Source) bool {
	return slices.ContainsFunc(sources, func(src Source) bool {
		if src.Unindexed != nil {
			return src.Unindexed.Repository.ID == t.Stored.ID
		}
		return slices.Contains(t.Stored.Shards, src.View.ID)
	})
}
