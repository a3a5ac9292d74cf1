package task

import (
	"iter"

	"github.com/trawlsearch/trawl/query/match"
	"github.com/trawlsearch/trawl/store"
)

// repositories are those of a snapshot that exist for a client. Whatever a search
// asks of them, it asks here.
type repositories struct {
	snapshot *store.Snapshot
	// hidden are the others, shared the shards with documents or commits of them.
	hidden map[uint32]*store.Repository
	shared map[uint32]bool
}

// Hide finds the repositories that do not exist for the client. Snapshot is set.
func (t *Task) Hide() {
	t.snapshot = t.Snapshot
	switch {
	case t.Visible == nil:
	case t.PublicVisible:
		t.hide(t.Snapshot.Marked(store.MarkRestricted), t.Visible)
	default:
		t.hide(t.Snapshot.Listed(), t.Visible)
	}
}

func (r *repositories) hide(of iter.Seq[*store.Repository], visible func(*store.Repository) bool) {
	r.hidden, r.shared = map[uint32]*store.Repository{}, map[uint32]bool{}
	for repo := range of {
		if visible(repo) {
			continue
		}
		r.hidden[repo.ID] = repo
		for _, id := range repo.Shards {
			r.shared[id] = true
		}
		for _, id := range repo.History.Shards {
			r.shared[id] = true
		}
	}
}

// IsShared reports whether a shard also holds documents that do not exist for the
// client.
func (r *repositories) IsShared(shard uint32) bool { return r.shared[shard] }

// Known returns how many repositories exist for the client.
func (r *repositories) Known() int { return r.snapshot.RepositoryCount() - len(r.hidden) }

// Hidden returns the repositories that do not exist for the client, by ID.
func (r *repositories) Hidden() map[uint32]*store.Repository { return r.hidden }

// Repository returns the repository with an ID, nil if none exists for the client.
func (r *repositories) Repository(id uint32) *store.Repository {
	if r.hidden[id] != nil {
		return nil
	}
	return r.snapshot.RepositoryByID(id)
}

// Listed yields the repositories that exist for the client, in listing order.
func (r *repositories) Listed() iter.Seq[*store.Repository] {
	return r.visible(r.snapshot.Listed())
}

// Marked yields those of them with a mark, in listing order.
func (r *repositories) Marked(m store.Mark) iter.Seq[*store.Repository] {
	return r.visible(r.snapshot.Marked(m))
}

func (r *repositories) visible(of iter.Seq[*store.Repository]) iter.Seq[*store.Repository] {
	if len(r.hidden) == 0 {
		return of
	}
	return func(yield func(*store.Repository) bool) {
		for repo := range of {
			if r.hidden[repo.ID] == nil && !yield(repo) {
				return
			}
		}
	}
}

// Named yields the repositories that exist for the client and have a name that l
// matches, in no order.
func (r *repositories) Named(l *match.LineMatcher) iter.Seq[*store.Repository] {
	return func(yield func(*store.Repository) bool) {
		names := r.snapshot.Names()
		l.Find(names.Text, func(start int) bool {
			_, id := names.At(names.Line(start))
			repo := r.Repository(id)
			return repo == nil || yield(repo)
		})
	}
}
