package target

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/store"
)

// Set is a set of repositories with what is searched of each. The members are
// chosen one by one, or are all that a rule does not leave out: such a set makes a
// target when it is asked for it, and neither Get nor Len go through the others. A
// nil set is empty. It is safe for concurrent use while nothing is taken from it.
type Set struct {
	rule Rule // nil for members chosen one by one

	mu sync.RWMutex // guards byID if there is a rule; the rule is asked without it
	// byID are the members, or those of a rule that were asked for.
	byID map[uint32]*Repository
	// listed are the members in listing order, nil with a rule. The slice is
	// replaced, never changed, so that an iteration goes on undisturbed.
	listed []*Repository
}

// Rule says which repositories are in a set. It is safe for concurrent use.
type Rule interface {
	// Find returns the repository with an ID, nil if it is no member.
	Find(id uint32) *store.Repository
	// Listed yields the members in listing order, Len counts them.
	Listed() iter.Seq[*store.Repository]
	Len() int
	// Target makes the target of a member.
	Target(*store.Repository) *Repository
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

// NewRuled returns the set of all members of a rule.
func NewRuled(r Rule) *Set { return &Set{rule: r, byID: map[uint32]*Repository{}} }

// Get returns the target of a repository, nil if it has none.
func (s *Set) Get(repository uint32) *Repository {
	switch {
	case s == nil:
		return nil
	case s.rule == nil:
		return s.byID[repository]
	}
	s.mu.RLock()
	t := s.byID[repository]
	s.mu.RUnlock()
	if t != nil {
		return t
	}
	stored := s.rule.Find(repository)
	if stored == nil {
		return nil
	}
	return s.made(stored)
}

// made returns the target of a member of the rule, always the same.
func (s *Set) made(stored *store.Repository) *Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byID[stored.ID]
	if t == nil {
		t = s.rule.Target(stored)
		s.byID[stored.ID] = t
	}
	return t
}

// Has reports whether a repository is in the set. It makes no target.
func (s *Set) Has(repository uint32) bool {
	switch {
	case s == nil:
		return false
	case s.rule == nil:
		return s.byID[repository] != nil
	}
	return s.rule.Find(repository) != nil
}

// HasRevision reports whether a revision of a repository is searched.
func (s *Set) HasRevision(repository uint32) bool {
	if s.IsRuled() {
		return s.Has(repository)
	}
	t := s.Get(repository)
	return t != nil && len(t.Revisions) > 0
}

// IsRuled reports whether the members are those of a rule. Then there may be very
// many, each searched at its default branch.
func (s *Set) IsRuled() bool { return s != nil && s.rule != nil }

// Len returns how many repositories there are.
func (s *Set) Len() int {
	switch {
	case s == nil:
		return 0
	case s.rule == nil:
		return len(s.byID)
	}
	return s.rule.Len()
}

// All yields the targets in listing order. The set may change meanwhile.
func (s *Set) All() iter.Seq[*Repository] {
	return func(yield func(*Repository) bool) {
		if s.IsRuled() {
			for stored := range s.rule.Listed() {
				if !yield(s.made(stored)) {
					return
				}
			}
			return
		}
		if s == nil {
			return
		}
		for _, t := range s.listed {
			if !yield(t) {
				return
			}
		}
	}
}

// Listed yields the repositories in listing order. It makes no targets.
func (s *Set) Listed() iter.Seq[*store.Repository] {
	if s.IsRuled() {
		return s.rule.Listed()
	}
	return func(yield func(*store.Repository) bool) {
		for t := range s.All() {
			if !yield(t.Stored) {
				return
			}
		}
	}
}

// Keep leaves the targets that keep reports true for. They are then chosen one by
// one.
func (s *Set) Keep(keep func(*Repository) bool) {
	kept := &Set{byID: map[uint32]*Repository{}}
	for t := range s.All() {
		if keep(t) {
			kept.listed, kept.byID[t.Stored.ID] = append(kept.listed, t), t
		}
	}
	s.rule, s.byID, s.listed = nil, kept.byID, kept.listed
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

// Union yields the repositories that are in any of some sets, each once and in
// listing order. Of all, which it may go through, the sets are parts.
func Union(all iter.Seq[*store.Repository], sets []*Set) iter.Seq[*store.Repository] {
	if len(sets) == 1 {
		return sets[0].Listed()
	}
	if slices.ContainsFunc(sets, (*Set).IsRuled) {
		return func(yield func(*store.Repository) bool) {
			for repo := range all {
				if slices.ContainsFunc(sets, func(s *Set) bool { return s.Has(repo.ID) }) && !yield(repo) {
					return
				}
			}
		}
	}
	union := map[uint32]*store.Repository{}
	for _, s := range sets {
		for repo := range s.Listed() {
			union[repo.ID] = repo
		}
	}
	return slices.Values(slices.SortedFunc(maps.Values(union), store.CompareListed))
}
