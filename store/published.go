package store

import (
	"github.com/cockroachdb/pebble/v2"
)

// version is the state after a commit. All readers that begin before the next
// commit is on disk share it. So no reader waits for a writer or sees a change
// that is not on disk, and after a failed commit the version before it stays.
type version struct {
	engine    *engine
	catalogue *catalogue
	snap      *pebble.Snapshot
	// base, if not nil, is the version whose snapshot this is.
	base *version
	// refs counts its readers, and the store while it is the last version.
	// Store.read guards it.
	refs int
}

// publish makes the state of e after a commit, with catalogue c, the last version.
func (s *Store) publish(e *engine, c *catalogue) {
	m := &version{engine: e, catalogue: c, snap: e.db.NewSnapshot(), refs: 1}
	s.read.Lock()
	e.users++
	old := s.last
	s.last = m
	s.read.Unlock()
	if old != nil {
		s.release(old)
	}
}

// replaceCatalogue makes c the catalogue of the last version, whose data stays. mu
// is held.
func (s *Store) replaceCatalogue(c *catalogue) {
	s.catalogue = c
	s.read.Lock()
	defer s.read.Unlock()
	s.last = &version{engine: s.last.engine, catalogue: c, snap: s.last.snap, base: s.last, refs: 1}
	s.last.engine.users++
}

// hold returns the last version; release ends that.
func (s *Store) hold() *version {
	s.read.Lock()
	defer s.read.Unlock()
	s.last.refs++
	return s.last
}

func (s *Store) release(m *version) {
	s.read.Lock()
	m.refs--
	free := m.refs == 0
	s.read.Unlock()
	switch {
	case !free:
		return
	case m.base != nil:
		s.release(m.base)
	default:
		_ = m.snap.Close() // it has nothing to say
	}
	s.leave(m.engine)
}

// enter returns the engine for something that is not done under mu, until
// leave.
func (s *Store) enter() *engine {
	s.read.Lock()
	defer s.read.Unlock()
	e := s.last.engine
	e.users++
	return e
}

// leave closes an engine that was replaced when the last of its users is gone.
func (s *Store) leave(e *engine) {
	s.read.Lock()
	e.users--
	unused := e.users == 0 && e.retired
	s.read.Unlock()
	if unused {
		e.closed <- e.db.Close()
	}
}

// retire releases e without waiting; the channel gets the error of closing it.
func (s *Store) retire(e *engine) <-chan error {
	s.read.Lock()
	e.users++
	e.retired = true
	s.read.Unlock()
	s.leave(e)
	return e.closed
}
