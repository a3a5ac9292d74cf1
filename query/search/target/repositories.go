package target

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
)

// Repositories is a set of repositories with what is searched of each. A lazy set makes a
// target when it is asked for it, and neither Get nor Len go through the others. A
// nil set is empty. It is safe for concurrent use while nothing is removed from it.
type Repositories struct {
	// task, ids and shown are those of a lazy set: where its repositories are, which they
	// are, and what matches carry of them; at is what the query calls their default
	// branches, and whole the lazy set that it is a part of and shares targets with, nil
	// for none. The others have all targets in byID and listed.
	task  *task.Task
	ids   *store.IDs
	shown *Shown
	at    Revision
	whole *Repositories

	mu sync.RWMutex // guards byID of a lazy set
	// byID are the members, or those of a lazy set that were asked for.
	byID map[uint32]*Repository
	// listed are the members in listing order, nil if the set is lazy. The slice is
	// replaced, never changed, so that an iteration goes on undisturbed.
	listed []*Repository
}

// NewRepositories returns the set of some targets of different repositories, in listing
// order.
func NewRepositories(targets ...*Repository) *Repositories {
	s := &Repositories{byID: make(map[uint32]*Repository, len(targets)), listed: targets}
	for _, t := range targets {
		s.byID[t.Stored.ID] = t
	}
	return s
}

// NewLazyRepositories returns the lazy set of repositories with some IDs, which exist for the
// client of t, each at its default branch, which the query calls at. If it names that, what
// is not indexed has no revision.
func NewLazyRepositories(t *task.Task, ids *store.IDs, shown *Shown, at Revision) *Repositories {
	return &Repositories{task: t, ids: ids, shown: shown, at: at, byID: map[uint32]*Repository{}}
}

// Get returns the target of a repository, nil if it has none.
func (r *Repositories) Get(repository uint32) *Repository {
	switch {
	case r == nil:
		return nil
	case !r.IsLazy():
		return r.byID[repository]
	case !r.ids.Has(repository):
		return nil
	}
	r.mu.RLock()
	t := r.byID[repository]
	r.mu.RUnlock()
	if t != nil {
		return t
	}
	return r.made(r.task.Visible.Get(repository))
}

// KeyOf returns the key of revision n of a member. A lazy set makes no target for it.
func (r *Repositories) KeyOf(repository uint32, n int) Key {
	if r.IsLazy() {
		return Key{repository, r.task.Snapshot.RepositoryByID(repository).Commit()}
	}
	t := r.byID[repository]
	return t.Key(t.Revisions[n])
}

// made returns the target of a member of a lazy set, always the same.
func (r *Repositories) made(stored *store.Repository) *Repository {
	if r.whole != nil {
		return r.whole.Get(stored.ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byID[stored.ID]
	if t == nil {
		t = &Repository{Stored: stored, Shown: r.shown.Of(stored)}
		if rev := r.at; stored.Indexed() || !rev.IsTyped {
			if stored.Indexed() {
				rev.Commit = stored.Commit()
			}
			t.Revisions = []*Revision{&rev}
		}
		r.byID[stored.ID] = t
	}
	return t
}

// Has reports whether a repository is in the set. It makes no target.
func (r *Repositories) Has(repository uint32) bool {
	switch {
	case r == nil:
		return false
	case r.IsLazy():
		return r.ids.Has(repository)
	}
	return r.byID[repository] != nil
}

// IsLazy reports whether targets are made when they are asked for. Then there may be
// very many, each searched at its default branch.
func (r *Repositories) IsLazy() bool { return r != nil && r.ids != nil }

// Len returns how many repositories there are.
func (r *Repositories) Len() int {
	switch {
	case r == nil:
		return 0
	case r.IsLazy():
		return r.ids.Len()
	}
	return len(r.byID)
}

// IDs returns the IDs of the repositories. The set is not to be changed.
func (r *Repositories) IDs() *store.IDs {
	if r.IsLazy() {
		return r.ids
	}
	ids := &store.IDs{}
	for repo := range r.Listed() {
		ids.Add(repo.ID)
	}
	return ids
}

// In returns the set of those repositories that have some IDs. These are the caller's
// no more.
func (r *Repositories) In(ids *store.IDs) *Repositories {
	if r.IsLazy() {
		ids.Intersect(r.ids)
		return &Repositories{task: r.task, ids: ids, at: r.at, whole: r}
	}
	var some []*Repository
	for t := range r.All() {
		if ids.Has(t.Stored.ID) {
			some = append(some, t)
		}
	}
	return NewRepositories(some...)
}

// All yields the targets in listing order. The set may change meanwhile.
func (r *Repositories) All() iter.Seq[*Repository] {
	return func(yield func(*Repository) bool) {
		if r.IsLazy() {
			for stored := range r.Listed() {
				if !yield(r.made(stored)) {
					return
				}
			}
			return
		}
		if r == nil {
			return
		}
		for _, t := range r.listed {
			if !yield(t) {
				return
			}
		}
	}
}

// Listed yields the repositories in listing order. It makes no targets.
func (r *Repositories) Listed() iter.Seq[*store.Repository] {
	if r.IsLazy() {
		return r.task.Visible.In(r.ids)
	}
	return func(yield func(*store.Repository) bool) {
		for t := range r.All() {
			if !yield(t.Stored) {
				return
			}
		}
	}
}

// Keep leaves the targets that keep reports true for. They are then chosen one by
// one.
func (r *Repositories) Keep(keep func(*Repository) bool) {
	kept := &Repositories{byID: map[uint32]*Repository{}}
	for t := range r.All() {
		if keep(t) {
			kept.listed, kept.byID[t.Stored.ID] = append(kept.listed, t), t
		}
	}
	r.task, r.ids, r.shown, r.at, r.whole, r.byID, r.listed = nil, nil, nil, Revision{}, nil, kept.byID, kept.listed
}

// KeepIDs leaves those members of a lazy set that have some IDs. These are the caller's no
// more.
func (r *Repositories) KeepIDs(ids *store.IDs) {
	ids.Intersect(r.ids)
	r.ids = ids
}

// TakeOut takes the members with some IDs out of a lazy set, and returns them as targets
// without revisions.
func (r *Repositories) TakeOut(ids *store.IDs) *Repositories {
	var taken []*Repository
	for stored := range r.In(ids).Listed() {
		taken = append(taken, &Repository{Stored: stored, Shown: r.shown.Of(stored)})
	}
	left := r.ids.Clone()
	left.Subtract(ids)
	r.ids = left
	return NewRepositories(taken...)
}

// KeepRevisions leaves the revisions that keep reports true for, and the
// repositories that have some.
func (r *Repositories) KeepRevisions(keep func(*Repository, *Revision) bool) {
	r.Keep(func(t *Repository) bool {
		t.Revisions = slices.DeleteFunc(slices.Clone(t.Revisions), func(rev *Revision) bool { return !keep(t, rev) })
		return len(t.Revisions) > 0
	})
}

// Join returns a set with the repositories of all sets, at the revisions of all.
func Join(sets []*Repositories) *Repositories {
	joined := map[uint32]*Repository{}
	for _, s := range sets {
		for t := range s.All() {
			joined[t.Stored.ID] = t.With(joined[t.Stored.ID])
		}
	}
	return NewRepositories(slices.SortedFunc(maps.Values(joined), func(a, b *Repository) int { return store.CompareListed(a.Stored, b.Stored) })...)
}

// SearchedIDs returns the IDs of the repositories of which a revision is searched in any of
// some sets. The set is the caller's.
func SearchedIDs(sets []*Repositories) *store.IDs {
	ids := &store.IDs{}
	for _, s := range sets {
		switch {
		case !s.IsLazy():
			for t := range s.All() {
				if len(t.Revisions) > 0 {
					ids.Add(t.Stored.ID)
				}
			}
		case s.at.IsTyped:
			searched := s.ids.Clone()
			searched.Subtract(s.task.Snapshot.MarkedIDs(store.MarkUnindexed))
			ids.Join(searched)
		default:
			ids.Join(s.ids)
		}
	}
	return ids
}

// UnionIDs returns the IDs of the repositories that are in any of some sets. The set is
// the caller's.
func UnionIDs(sets []*Repositories) *store.IDs {
	ids := &store.IDs{}
	for _, s := range sets {
		ids.Join(s.IDs())
	}
	return ids
}

// Union yields the repositories that are in any of some sets, each once and in listing
// order.
func Union(t *task.Task, sets []*Repositories) iter.Seq[*store.Repository] {
	if len(sets) == 1 {
		return sets[0].Listed()
	}
	return t.Visible.In(UnionIDs(sets))
}
