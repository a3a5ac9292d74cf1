package task

import (
	"iter"
	"slices"

	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// VisibleRepositories are those of a snapshot that exist for a client. Whatever a search
// asks of them, it asks here.
type VisibleRepositories struct {
	snapshot *store.Snapshot
	// known are their IDs, hidden are the others, shared the shards with documents or
	// commits of hidden ones. All are nil if nothing is hidden.
	known, hidden *store.IDs
	shared        map[uint32]bool
}

// Hide finds the repositories that do not exist for the client. Snapshot is set.
func (t *Task) Hide() {
	t.Visible.snapshot = t.Snapshot
	switch {
	case t.Only != 0:
		t.hideOthers()
		return
	case t.IsVisible == nil:
		return
	case t.PublicIsVisible:
		t.hide(t.Snapshot.Marked(store.MarkRestricted))
	default:
		t.hide(t.Snapshot.Listed())
	}
	t.Visible.known = t.Snapshot.IDs().Clone()
	t.Visible.known.Subtract(t.Visible.hidden)
}

func (t *Task) hide(of iter.Seq[*store.Repository]) {
	t.Visible.hidden, t.Visible.shared = &store.IDs{}, map[uint32]bool{}
	last := uint32(0) // neighbours mostly share their shards
	share := func(id uint32) {
		if id != last {
			t.Visible.shared[id], last = true, id
		}
	}
	for repo := range of {
		if t.IsVisible(repo) {
			continue
		}
		t.Visible.hidden.Add(repo.ID)
		for _, id := range repo.Shards {
			share(id)
		}
		for _, id := range repo.History.Shards {
			share(id)
		}
	}
}

// hideOthers hides all repositories but Only. It goes through none of them.
func (t *Task) hideOthers() {
	t.Visible.known, t.Visible.hidden, t.Visible.shared = &store.IDs{}, t.Snapshot.IDs().Clone(), map[uint32]bool{}
	repo := t.Snapshot.RepositoryByID(t.Only)
	if repo == nil || t.IsVisible != nil && !t.IsVisible(repo) {
		return
	}
	t.Visible.known.Add(repo.ID)
	t.Visible.hidden.Subtract(t.Visible.known)
	for _, id := range slices.Concat(repo.Shards, repo.History.Shards) {
		for other := range t.Snapshot.ShardRepositories(id) {
			if other != repo.ID {
				t.Visible.shared[id] = true
				break
			}
		}
	}
}

// IsShared reports whether a shard also holds documents that do not exist for the
// client.
func (r *VisibleRepositories) IsShared(shard uint32) bool { return r.shared[shard] }

// IDs returns the IDs of the repositories that exist for the client. The set is shared
// and not to be changed.
func (r *VisibleRepositories) IDs() *store.IDs {
	if r.known == nil {
		return r.snapshot.IDs()
	}
	return r.known
}

// Len returns how many repositories exist for the client.
func (r *VisibleRepositories) Len() int {
	if r.known == nil {
		return r.snapshot.RepositoryCount()
	}
	return r.known.Len()
}

// Get returns the repository with an ID, nil if none exists for the client.
func (r *VisibleRepositories) Get(id uint32) *store.Repository {
	if r.hidden.Has(id) {
		return nil
	}
	return r.snapshot.RepositoryByID(id)
}

// Listed yields the repositories that exist for the client, in listing order.
func (r *VisibleRepositories) Listed() iter.Seq[*store.Repository] {
	if r.known == nil {
		return r.snapshot.Listed()
	}
	return r.In(r.known)
}

// In yields the repositories of a set of those that exist for the client, in listing
// order.
func (r *VisibleRepositories) In(ids *store.IDs) iter.Seq[*store.Repository] {
	return r.in(ids, r.snapshot.Listed())
}

// in is In where others yields these repositories and others in listing order.
func (r *VisibleRepositories) in(ids *store.IDs, others iter.Seq[*store.Repository]) iter.Seq[*store.Repository] {
	return func(yield func(*store.Repository) bool) {
		if ids.Len()*sparse < r.snapshot.RepositoryCount() {
			some := make([]*store.Repository, 0, ids.Len())
			for id := range ids.All() {
				some = append(some, r.snapshot.RepositoryByID(id))
			}
			slices.SortFunc(some, store.CompareListed)
			others = slices.Values(some)
		}
		for repo := range others {
			if ids.Has(repo.ID) && !yield(repo) {
				return
			}
		}
	}
}

// sparse is how many times as many repositories there are as are wanted for these to
// be looked up and sorted.
const sparse = 32

// NamedIDs returns the IDs of the repositories that exist for the client and have a
// name that l matches. The set is the caller's.
func (r *VisibleRepositories) NamedIDs(l *match.LineMatcher) *store.IDs {
	ids := r.snapshot.Names().Find(l)
	ids.Subtract(r.hidden)
	return ids
}
