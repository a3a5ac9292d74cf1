package target

import (
	"iter"
	"maps"
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// Set is a set of repositories with what is searched of each. A nil set is empty.
type Set struct {
	byID map[uint32]*Repository
	// listed are the same in listing order. The slice is replaced, never changed, so
	// that an iteration goes on undisturbed.
	listed []*Repository
}

// NewSet returns the set of some targets of different repositories, in listing
// order.
func NewSet(targets ...*Repository) *Set {
	s := &Set{byID: make(map[uint32]*Repository, len(targets)), listed: targets}
	for _, t := range targets {
		s.byID[t.Stored.ID] = t
	}
	return s
}

// Get returns the target of a repository, nil if it has none.
func (s *Set) Get(repository uint32) *Repository {
	if s == nil {
		return nil
	}
	return s.byID[repository]
}

// Len returns how many repositories there are.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.byID)
}

// All yields the targets in listing order. The set may change meanwhile.
func (s *Set) All() iter.Seq[*Repository] {
	if s == nil {
		return func(func(*Repository) bool) {}
	}
	return slices.Values(s.listed)
}

// Keep leaves the targets that keep reports true for.
func (s *Set) Keep(keep func(*Repository) bool) {
	var kept []*Repository
	for _, t := range s.listed {
		if keep(t) {
			kept = append(kept, t)
		} else {
			delete(s.byID, t.Stored.ID)
		}
	}
	s.listed = kept
}

// KeepRevisions leaves the revisions that keep reports true for, and the
// repositories that have some.
func (s *Set) KeepRevisions(keep func(*Repository, *Revision) bool) {
	s.Keep(func(t *Repository) bool {
		t.Revisions = slices.DeleteFunc(slices.Clone(t.Revisions), func(rev *Revision) bool { return !keep(t, rev) })
		return len(t.Revisions) > 0
	})
}

// Join returns a set with the repositories of all sets, at the revisions of all.
func Join(sets []*Set) *Set {
	joined := map[uint32]*Repository{}
	for _, s := range sets {
		for t := range s.All() {
			joined[t.Stored.ID] = t.With(joined[t.Stored.ID])
		}
	}
	return NewSet(slices.SortedFunc(maps.Values(joined), func(a, b *Repository) int { return store.CompareListed(a.Stored, b.Stored) })...)
}
