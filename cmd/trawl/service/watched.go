package service

import (
	"slices"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/watch"
	"github.com/trawlsearch/trawl/store"
)

// watchLocals watches the repositories of this machine, if the Syncer is to.
func (y *Syncer) watchLocals() (end func()) {
	if !y.Watch {
		return func() {}
	}
	w, err := watch.New(watch.Options{Changed: y.changed, Rest: y.restOf, Log: y.Log})
	if err != nil {
		y.Log.Warn().Err(err).Msg("local repositories are not watched, and looked at from time to time only")
		return func() {}
	}
	y.watcher = w
	return func() { _ = w.Close() } // nobody reads it any more
}

// changed has a repository synced whose folder has changed.
func (y *Syncer) changed(name string, at time.Time) {
	if r := y.Service.repositories.record(name); r != nil {
		y.Service.repositories.pushed(r, at)
	}
}

// restOf is how long a repository rests between two syncs that a watch asks for.
func (y *Syncer) restOf(name string) time.Duration {
	r := y.Service.repositories.record(name)
	if r == nil {
		return 0
	}
	return y.Service.repositories.pushes.rest(r.ID)
}

// follow watches those repositories that are the work of this node, and first those that
// changed last.
func (y *Syncer) follow(all []*store.Repository) {
	if y.watcher == nil {
		return
	}
	watched := slices.DeleteFunc(slices.Clone(all), func(r *store.Repository) bool { return !y.watches(r) })
	slices.SortFunc(watched, func(a, b *store.Repository) int { return b.LastIndexed.Compare(a.LastIndexed) })
	locals := make([]watch.Local, len(watched))
	for n, r := range watched {
		locals[n] = watch.Local{Name: r.Name, Dir: r.Source}
	}
	y.watcher.Follow(locals)
}

// followOne watches one that may be new.
func (y *Syncer) followOne(r *store.Repository) {
	if y.watcher != nil && y.watches(r) {
		y.watcher.Add(r.Name, r.Source)
	}
}

func (y *Syncer) watches(r *store.Repository) bool {
	return !r.Mirror && !r.IsGone() && y.Service.node.Mine(r.ID)
}
