package store

import (
	"context"
	"slices"
	"sync"
)

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

// RepositoryChange is a record before and after a change, nil if there is none; one of them
// is not nil.
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
			// of two who remove a repository, the second finds none
			if old := before.repository(op.id); old != nil || op.record != nil {
				a.Repositories = append(a.Repositories, RepositoryChange{old, op.record})
			}
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
	before.byID.Scan(func(id uint32, r *Repository) bool {
		a.Repositories = append(a.Repositories, RepositoryChange{r, after.repository(id)})
		return true
	})
	after.byID.Scan(func(id uint32, r *Repository) bool {
		if before.repository(id) == nil {
			a.Repositories = append(a.Repositories, RepositoryChange{nil, r})
		}
		return true
	})
	return a
}

// delivery are versions that subscribers hear of together. told is closed when they
// have.
type delivery struct {
	of   []Applied
	told chan struct{}
}

// deliveries are what subscribers have not heard of.
type deliveries struct {
	mu          sync.Mutex // guards all below
	subscribers []func(Applied)
	// all are in the order of their versions; next, nil for none, is the one that nobody
	// delivers yet.
	all  []*delivery
	next *delivery
}

func (d *deliveries) subscribe(f func(Applied)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.subscribers = append(slices.Clip(d.subscribers), f)
}

// add has a version delivered next.
func (d *deliveries) add(a Applied) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.subscribers) == 0 {
		return
	}
	if d.next == nil {
		d.next = &delivery{told: make(chan struct{})}
		d.all = append(d.all, d.next)
	}
	d.next.of = append(d.next.of, a)
}

// take returns what delivers the versions that nobody delivers yet. Who made one takes it
// before another goroutine can, and delivers it without a mutex: subscribers may commit.
func (d *deliveries) take() (deliver func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one, subscribers := d.next, d.subscribers
	d.next = nil
	return func() {
		if one == nil {
			return
		}
		for _, a := range one.of {
			for _, f := range subscribers {
				f(a)
			}
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		i := slices.Index(d.all, one)
		d.all = slices.Delete(d.all, i, i+1)
		close(one.told)
	}
}

// told waits until subscribers have heard of the versions that wanted is true of.
func (d *deliveries) told(ctx context.Context, wanted func(Version) bool) error {
	for _, one := range d.with(wanted) {
		select {
		case <-one.told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// with returns the deliveries of versions that wanted is true of.
func (d *deliveries) with(wanted func(Version) bool) (out []*delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.all {
		if slices.ContainsFunc(one.of, func(a Applied) bool { return wanted(a.Version) }) {
			out = append(out, one)
		}
	}
	return out
}

// Subscribe has f called after each commit, once searches see its version, and before
// the commit returns: by the goroutine that committed, or by another one where versions
// come from a log. f may use the store. Calls for two versions may overlap.
func (s *Store) Subscribe(f func(Applied)) { s.committer.deliveries.subscribe(f) }
