package store

import "slices"

// Applied says what a version changed.
type Applied struct {
	Version Version
	// Everything says that anything may have changed: the engine was opened again.
	// Repositories are all then, and the rest is empty.
	Everything bool
	// Records are the kinds of the records that were set or deleted.
	Records []RecordKind
	// Repositories are those whose records were set or deleted.
	Repositories []RepositoryChange
	// Shards says that shards came or left, or documents died.
	Shards bool
}

// RepositoryChange is a record before and after a change, nil if there is none.
type RepositoryChange struct{ Before, After *Repository }

// Has reports whether records of one of the kinds may have changed.
func (a *Applied) Has(kinds ...RecordKind) bool {
	return a.Everything || slices.ContainsFunc(kinds, func(k RecordKind) bool { return slices.Contains(a.Records, k) })
}

// applied describes ops, which follow the version with catalogue before.
func applied(v Version, before *catalogue, ops []operation) Applied {
	a := Applied{Version: v}
	for _, op := range ops {
		switch op := op.(type) {
		case repositoryOperation:
			a.Repositories = append(a.Repositories, RepositoryChange{before.repository(op.id), op.record})
		case headerOperation, deadOperation:
			a.Shards = true
		case valueOperation:
			if kind := RecordKind(op.name[1]); op.name[0] == prefixRecord && !slices.Contains(a.Records, kind) {
				a.Records = append(a.Records, kind)
			}
		}
	}
	return a
}

// reopened describes the version of an engine that was opened again: the change that
// failed before may be there.
func reopened(v Version, before, after *catalogue) Applied {
	a := Applied{Version: v, Everything: true}
	before.repositories.Scan(func(id uint32, r *Repository) bool {
		a.Repositories = append(a.Repositories, RepositoryChange{r, after.repository(id)})
		return true
	})
	after.repositories.Scan(func(id uint32, r *Repository) bool {
		if before.repository(id) == nil {
			a.Repositories = append(a.Repositories, RepositoryChange{nil, r})
		}
		return true
	})
	return a
}

// Subscribe has f called after each commit, once searches see its version, and by
// the goroutine that committed, before its commit returns. f may use the store.
// Calls for two versions may overlap.
func (s *Store) Subscribe(f func(Applied)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(slices.Clip(s.subscribers), f)
}

// unlock releases mu and delivers what is pending.
func (s *Store) unlock() {
	pending, subscribers := s.pending, s.subscribers
	s.pending = nil
	s.mu.Unlock()
	for _, a := range pending {
		for _, f := range subscribers {
			f(a)
		}
	}
}
