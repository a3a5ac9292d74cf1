package store

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store/shard"
)

// Snapshot is one version of the store. It is safe for concurrent use; the
// lists and texts made from it are not.
type Snapshot struct {
	s *Store
	m *version
	c *catalogue
	// source is where the views of shards read.
	source shard.Source
}

// Snapshot returns the last committed version, and waits for no running commit.
// The caller closes it.
func (s *Store) Snapshot() *Snapshot {
	m := s.versions.hold()
	s.versions.count(1)
	return &Snapshot{s: s, m: m, c: m.catalogue, source: shard.Source{Reader: m.snap, Budget: s.budget}}
}

// Close releases the snapshot; nothing borrowed from it may be used after.
func (sn *Snapshot) Close() error {
	sn.s.versions.count(-1)
	sn.s.versions.release(sn.m)
	return nil
}

// Commit is that of the store, for a change that was prepared from sn. It fails
// with ErrBroken when the store had to be opened again since, as then what the
// last commit before that was about may be there or not.
func (sn *Snapshot) Commit(c Change) error {
	c.basis = sn.m.engine
	return sn.s.Commit(c)
}

// Repositories returns all repositories by stars descending, then ID
// descending: the order in which they are listed. The records are shared and
// not to be changed.
func (sn *Snapshot) Repositories() []*Repository {
	out := make([]*Repository, 0, len(sn.c.repositories))
	for _, r := range sn.c.repositories {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Repository) int {
		return cmp.Or(b.Stars-a.Stars, cmp.Compare(b.ID, a.ID))
	})
	return out
}

// Repository returns the repository of that name, or an error that is
// ErrNotFound.
func (sn *Snapshot) Repository(name string) (*Repository, error) {
	if r := sn.c.byName[name]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("repository %q: %w", name, ErrNotFound)
}

// RepositoryByID returns the repository or nil.
func (sn *Snapshot) RepositoryByID(id uint32) *Repository { return sn.c.repositories[id] }

// Shards returns the shards in the order searches visit them.
func (sn *Snapshot) Shards() []shard.View {
	out := make([]shard.View, len(sn.c.order))
	for i, id := range sn.c.order {
		out[i], _ = sn.Shard(id)
	}
	return out
}

// Shard returns one shard; ok is false when the snapshot has none of that ID.
func (sn *Snapshot) Shard(id uint32) (v shard.View, ok bool) {
	sh := sn.c.shards[id]
	return sn.source.View(sh, sn.c.dead[id], sn.c.away[id], sn.c.aside[id]), sh != nil
}

// ListReader returns a reader of posting lists.
func (sn *Snapshot) ListReader() *shard.ListReader { return shard.NewListReader(&sn.source) }
