package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/shard"
)

// committer makes the versions of a data directory, on disk and in the catalogue. It
// guards the engine, which it replaces when that is broken, and the order of versions.
// It is the authority of a directory that no other process changes.
type committer struct {
	fs    vfs.FS
	dir   string
	event func(message string, err error)
	// budget is that of the shards' tables.
	budget *shard.Budget

	// mu guards all below up to tried, and the order of versions. Subscribers, and what
	// takes it, are not called while it is held.
	mu        sync.Mutex
	engine    *database
	catalogue *catalogue
	version   Version
	journal   journal
	// follows says that the versions are those of a log.
	follows bool
	// tried is when the engine was last opened again.
	tried time.Time

	// ingesting is held for reading while a run is taken in, without mu, and for
	// writing while files are linked for a checkpoint, before mu.
	ingesting sync.RWMutex
	// versions are what readers hold, deliveries what subscribers are to hear.
	versions   versions
	deliveries deliveries
}

func newCommitter(fs vfs.FS, dir string, event func(string, error), budget *shard.Budget, e *database, c *catalogue) *committer {
	w := &committer{fs: fs, dir: dir, event: event, budget: budget, engine: e}
	w.publish(1, c)
	return w
}

// unlock releases mu and delivers what is next.
func (w *committer) unlock() {
	deliver := w.deliveries.take()
	w.mu.Unlock()
	deliver()
}

// at is the last version.
func (w *committer) at() Version {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

// current returns the last catalogue, and the engine that is in use.
func (w *committer) current() (*catalogue, *database) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.catalogue, w.engine
}

// commit makes the next version.
func (w *committer) commit(base base, reads []keyRange, ops []operation) error {
	w.mu.Lock()
	defer w.unlock()
	all, err := w.prepare(base, reads, ops)
	if err != nil {
		return err
	}
	return w.install(w.version+1, all)
}

// check fails as commit does, and returns the version to append to in the log and all
// that is to be appended.
func (w *committer) check(base base, reads []keyRange, ops []operation) (at Version, all []operation, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err = w.prepare(base, reads, ops)
	return w.version, all, err
}

// prepare returns ops with what deletes the quarantined shards that are not needed behind
// them. It fails if what was read, or what ops write, has changed since base. mu is held.
func (w *committer) prepare(base base, reads []keyRange, ops []operation) ([]operation, error) {
	if err := w.writable(); err != nil {
		return nil, err
	}
	if base.version.engine != w.engine {
		// The last commit before that may be there or not, and so may its runs.
		if base.runs {
			return nil, fmt.Errorf("%w: the store was opened again while the change was prepared", ErrBroken)
		}
		return nil, fmt.Errorf("%w: %w: the store was opened again while the change was prepared", ErrConflict, ErrBroken)
	}
	if key, changed := w.journal.changed(base.version.number, reads, ops); changed {
		return nil, fmt.Errorf("%w: record %q", ErrConflict, key)
	}
	if w.catalogue.aside.Len() == 0 {
		return ops, nil
	}
	after := w.catalogue.clone()
	after.apply(ops)
	return append(slices.Clip(ops), after.unwantedOperations()...), nil
}

// follow makes the versions those of a log, and returns the one that the directory has,
// with the id of its entry and the catalogue.
func (w *committer) follow() (at Version, id cluster.ID, c *catalogue, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, id, err = appliedVersion(w.engine.DB); err != nil {
		return 0, id, nil, err
	}
	w.follows = true
	w.publish(at, w.catalogue)
	w.journal.forget(at)
	return at, id, w.catalogue, nil
}

// apply makes a version of the log, for deliveries.take, and returns its catalogue.
func (w *committer) apply(v Version, ops []operation) (*catalogue, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.writable(); err != nil {
		return nil, err
	}
	err := w.install(v, ops)
	return w.catalogue, err
}

// refill makes a version of the log by writing b, which was made for the records of an
// engine, for deliveries.take. It returns the catalogue.
func (w *committer) refill(v Version, e *database, b *batch) (*catalogue, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.writable(); err != nil {
		return nil, err
	}
	if e != w.engine {
		return nil, fmt.Errorf("%w: the store was opened again while it was filled", ErrBroken)
	}
	if b.err != nil {
		return nil, b.err
	}
	if err := e.Do(func() error { return b.Commit(pebble.Sync) }); err != nil {
		return nil, err
	}
	c, err := load(e.DB)
	if err != nil {
		return nil, err
	}
	w.replace(v, c)
	return c, nil
}

// commitHere makes a change that concerns this directory alone, for deliveries.take: no
// other node sees it, and it takes no version of a log.
func (w *committer) commitHere(ops []operation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.writable(); err != nil {
		return err
	}
	return w.installHere(ops)
}

// setAside takes a shard out of service, in memory alone if nothing can be written: the
// error says so. note is called with the catalogue before subscribers hear of it, with mu
// held.
func (w *committer) setAside(id uint32, q *shard.Quarantine, note func(*catalogue)) (first bool, err error) {
	ops := []operation{quarantineOperation{id, q}}
	w.mu.Lock()
	defer w.unlock()
	if !w.catalogue.inService(id) {
		return false, nil
	}
	if err = w.writable(); err == nil {
		err = w.installHere(ops)
	}
	if err != nil {
		next := w.catalogue.clone()
		next.apply(ops)
		w.catalogue = next
		w.versions.replaceCatalogue(next)
	}
	note(w.catalogue)
	return true, err
}

// installHere is install for a change that concerns this directory alone. mu is held.
func (w *committer) installHere(ops []operation) error {
	v := w.version
	if !w.follows {
		v++
	}
	return w.install(v, ops)
}

// install makes a version from ops, on disk and in the catalogue. When the engine
// could not write, what it holds in memory and what is on disk may differ: then the
// version before stays. mu is held.
func (w *committer) install(v Version, ops []operation) error {
	before, next := w.catalogue, w.catalogue.clone()
	next.apply(ops)
	b := &batch{Batch: w.engine.DB.NewBatch()}
	defer b.Close()
	b.putOperations(ops)
	if b.err != nil {
		return b.err
	}
	if err := w.engine.Do(func() error { return b.Commit(pebble.Sync) }); err != nil {
		return err
	}
	w.loadNew(before, next, ops)
	w.publish(v, next)
	w.journal.note(v, ops)
	w.deliveries.add(applied(v, before, ops))
	return nil
}

// loadNew reads the tables of the shards that next has and before has not. Searches
// would wait for that otherwise, a shard after the other. mu is held.
func (w *committer) loadNew(before, next *catalogue, ops []operation) {
	for _, op := range ops {
		h, ok := op.(headerOperation)
		if ok && before.shard(h.shard) == nil && next.inService(h.shard) {
			source := shard.Source{Reader: w.engine.DB, Budget: w.budget}
			source.Load(next.shard(h.shard))
		}
	}
}

// replace makes c, which was read from disk, the catalogue of a version. mu is held.
func (w *committer) replace(v Version, c *catalogue) {
	before := w.catalogue
	w.publish(v, c)
	w.journal.forget(v)
	w.deliveries.add(reopened(v, before, c))
}

// publish makes c the catalogue of a version. mu is held.
func (w *committer) publish(v Version, c *catalogue) {
	w.version, w.catalogue = v, c
	w.versions.publish(w.engine, v, c)
}

// take returns what tells subscribers of the versions that were made and not told.
func (w *committer) take() (deliver func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.deliveries.take()
}

// ready returns an error if the store cannot be written.
func (w *committer) ready() error {
	w.mu.Lock()
	defer w.unlock()
	return w.writable()
}

// enter returns the engine to work with outside of mu, for versions.leave.
func (w *committer) enter() (*database, error) {
	w.mu.Lock()
	defer w.unlock()
	if err := w.writable(); err != nil {
		return nil, err
	}
	return w.versions.enter(), nil
}

// update calls f, which may write, with the engine.
func (w *committer) update(f func(*pebble.DB) error) error {
	e, err := w.enter()
	if err != nil {
		return err
	}
	defer w.versions.leave(e)
	return e.Do(func() error { return f(e.DB) })
}

// ingest takes in the run at path.
func (w *committer) ingest(ctx context.Context, path string) error {
	return w.update(func(db *pebble.DB) error {
		w.ingesting.RLock()
		defer w.ingesting.RUnlock()
		return db.Ingest(ctx, []string{path})
	})
}

// link has the engine link its files into a directory that it makes. Nothing may be
// ingested or committed meanwhile.
func (w *committer) link(dir string) error {
	var deliver func()
	defer func() { deliver() }() // of an engine that was opened again
	w.ingesting.Lock()
	defer w.ingesting.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { deliver = w.deliveries.take() }()
	if err := w.writable(); err != nil {
		return err
	}
	return w.engine.Checkpoint(dir)
}

// flushToTables puts all that was committed into tables, if that can be done.
func (w *committer) flushToTables() bool {
	e, err := w.enter()
	if err != nil {
		return false
	}
	defer w.versions.leave(e)
	return e.FlushToTables()
}

// close releases the last version and waits for its readers. A flushed engine is sealed.
func (w *committer) close(flushed bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	closed := w.versions.retire(w.engine)
	w.versions.release(w.versions.last)
	err := <-closed
	if err = cmp.Or(w.engine.Err(), err); err == nil && flushed {
		err = w.engine.Seal()
	}
	return err
}
