package store

import (
	"fmt"
	"iter"
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
	m := s.committer.versions.hold()
	s.committer.versions.count(1)
	return &Snapshot{s: s, m: m, c: m.catalogue, source: shard.Source{Reader: m.snap, Budget: s.budget}}
}

// Close releases the snapshot; nothing borrowed from it may be used after.
func (sn *Snapshot) Close() error {
	sn.s.committer.versions.count(-1)
	sn.s.committer.versions.release(sn.m)
	return nil
}

// Repositories returns all repositories by stars descending, then ID
// descending: the order in which they are listed. The records are shared and
// not to be changed.
func (sn *Snapshot) Repositories() []*Repository {
	return slices.AppendSeq(make([]*Repository, 0, sn.RepositoryCount()), sn.Listed())
}

// RepositoryCount returns the number of repositories.
func (sn *Snapshot) RepositoryCount() int { return sn.c.byID.Len() }

// Listed yields all repositories in the order in which they are listed. The
// records are shared and not to be changed.
func (sn *Snapshot) Listed() iter.Seq[*Repository] { return sn.c.listed.Scan }

// Marked yields the repositories with a mark, by ID.
func (sn *Snapshot) Marked(m Mark) iter.Seq[*Repository] {
	return func(yield func(*Repository) bool) {
		for id := range sn.c.ids[m].All() {
			if !yield(sn.c.repository(id)) {
				return
			}
		}
	}
}

// IDs returns the IDs of all repositories, and MarkedIDs those of the repositories
// with a mark. The sets are shared and not to be changed.
func (sn *Snapshot) IDs() *IDs { return sn.c.all.IDs }

// MarkedIDs is described with IDs.
func (sn *Snapshot) MarkedIDs(m Mark) *IDs { return sn.c.ids[m].IDs }

// DefaultBranchIDs returns the IDs of the repositories whose default branch has that name
// and is indexed. The set is the caller's.
func (sn *Snapshot) DefaultBranchIDs(name string) *IDs { return sn.c.withDefault(name) }

// NewerIDs returns the IDs of those repositories with MarkDated whose newest commit was made
// later than in a second since 1970. The set is the caller's.
func (sn *Snapshot) NewerIDs(seconds int64) *IDs { return sn.c.newerThan(seconds) }

// Facts returns what repositories are found by their facts with.
func (sn *Snapshot) Facts() *FactIndex { return sn.c.facts.of(sn.c) }

// Names returns the names of all repositories.
func (sn *Snapshot) Names() *Names { return sn.c.names.of(sn.c) }

// ShardRepositories yields the IDs of the repositories that have documents or
// commits in a shard.
func (sn *Snapshot) ShardRepositories(shard uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for h := range sn.c.holding(shard) {
			if !yield(h.repository) {
				return
			}
		}
	}
}

// Repository returns the repository of that name, or an error that is
// ErrNotFound.
func (sn *Snapshot) Repository(name string) (*Repository, error) {
	if r := sn.c.named(name); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("repository %q: %w", name, ErrNotFound)
}

// RepositoryByID returns the repository or nil.
func (sn *Snapshot) RepositoryByID(id uint32) *Repository { return sn.c.repository(id) }

// Shards returns the shards in the order searches visit them.
func (sn *Snapshot) Shards() []shard.View {
	out := make([]shard.View, 0, sn.c.visited.Len())
	sn.c.visited.Scan(func(at visit) bool {
		v, _ := sn.Shard(at.shard)
		out = append(out, v)
		return true
	})
	return out
}

// ShardIDs yields the IDs of the shards, in the order of Shards.
func (sn *Snapshot) ShardIDs() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		sn.c.visited.Scan(func(at visit) bool { return yield(at.shard) })
	}
}

// Shard returns one shard; ok is false when the snapshot has none of that ID.
func (sn *Snapshot) Shard(id uint32) (v shard.View, ok bool) {
	sh := sn.c.shard(id)
	dead, _ := sn.c.dead.Get(id)
	away, _ := sn.c.away.Get(id)
	aside, _ := sn.c.aside.Get(id)
	return sn.source.View(sh, dead, away, aside), sh != nil
}

// ListReader returns a reader of posting lists.
func (sn *Snapshot) ListReader() *shard.ListReader { return shard.NewListReader(&sn.source) }
