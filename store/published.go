package store

import (
	"context"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store/engine"
)

// version is the state after a commit. All readers that begin before the next
// commit is on disk share it. So no reader waits for a writer or sees a change
// that is not on disk, and after a failed commit the version before it stays.
type version struct {
	number    Version
	engine    *database
	catalogue *catalogue
	snap      *pebble.Snapshot
	// base, if not nil, is the version whose snapshot this is.
	base *version
	// refs counts its readers, and the store while it is the last version.
	// versions.mu guards it.
	refs int
}

// database is an open engine with its users.
type database struct {
	*engine.Engine
	// users counts versions and work at hand; retired says that it is closed when
	// there are none, and the error of that goes to closed. versions.mu guards them.
	users   int
	retired bool
	closed  chan error
}

func newDatabase(e *engine.Engine) *database {
	return &database{Engine: e, closed: make(chan error, 1)}
}

// versions hand out the last version, and close engines and versions that are no
// longer used.
type versions struct {
	// mu guards last and the counts. Nothing that waits is called while it is held.
	mu   sync.Mutex
	last *version
	// live counts the versions that are held.
	live int
	// snapshots counts the open ones, for Store.Close to check.
	snapshots int
}

// alone waits until no version but the last is held, for so long at most, and reports
// whether that is so.
func (v *versions) alone(ctx context.Context, longest time.Duration) bool {
	for end := time.Now().Add(longest); ; {
		v.mu.Lock()
		live := v.live
		v.mu.Unlock()
		if live == 1 || time.Now().After(end) || ctx.Err() != nil {
			return live == 1
		}
		time.Sleep(aloneEvery)
	}
}

// aloneEvery is how often alone looks.
const aloneEvery = 5 * time.Millisecond

// count adds to the open snapshots, and returns how many there are.
func (v *versions) count(n int) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.snapshots += n
	return v.snapshots
}

// publish makes the state of e after a commit, with catalogue c, the last version.
func (v *versions) publish(e *database, number Version, c *catalogue) {
	m := &version{number: number, engine: e, catalogue: c, snap: e.DB.NewSnapshot(), refs: 1}
	v.mu.Lock()
	e.users++
	old := v.last
	v.last = m
	v.live++
	v.mu.Unlock()
	if old != nil {
		v.release(old)
	}
}

// replaceCatalogue makes c the catalogue of the last version, whose data stays.
func (v *versions) replaceCatalogue(c *catalogue) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = &version{number: v.last.number, engine: v.last.engine, catalogue: c, snap: v.last.snap, base: v.last, refs: 1}
	v.last.engine.users++
	v.live++
}

// hold returns the last version; release ends that.
func (v *versions) hold() *version {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last.refs++
	return v.last
}

func (v *versions) release(m *version) {
	v.mu.Lock()
	m.refs--
	free := m.refs == 0
	if free {
		v.live--
	}
	v.mu.Unlock()
	switch {
	case !free:
		return
	case m.base != nil:
		v.release(m.base)
	default:
		_ = m.snap.Close() // it has nothing to say
	}
	v.leave(m.engine)
}

// enter returns the engine for something that is not done under the committer's mutex, until
// leave.
func (v *versions) enter() *database {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.last.engine
	e.users++
	return e
}

// leave closes an engine that was replaced when the last of its users is gone.
func (v *versions) leave(e *database) {
	v.mu.Lock()
	e.users--
	unused := e.users == 0 && e.retired
	v.mu.Unlock()
	if unused {
		e.closed <- e.DB.Close()
	}
}

// retire releases e without waiting; the channel gets the error of closing it.
func (v *versions) retire(e *database) <-chan error {
	v.mu.Lock()
	e.users++
	e.retired = true
	v.mu.Unlock()
	v.leave(e)
	return e.closed
}
