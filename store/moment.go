package store

import (
	"github.com/cockroachdb/pebble/v2"
)

// moment is the state behind a commit, which all who begin to read before the
// next commit is done share. So nobody who reads waits for one who writes, nor
// sees what is not on disk yet, and after a commit that failed the moment before
// it stays.
type moment struct {
	engine    *engine
	catalogue *catalogue
	snap      *pebble.Snapshot
	// base, if not nil, is the moment whose snapshot this is.
	base *moment
	// refs counts who holds it, the store among them while it is the last.
	// Store.read guards it.
	refs int
}

// show makes what was committed to e, whose catalogue is c, the last moment.
func (s *Store) show(e *engine, c *catalogue) {
	m := &moment{engine: e, catalogue: c, snap: e.db.NewSnapshot(), refs: 1}
	s.read.Lock()
	e.users++
	old := s.last
	s.last = m
	s.read.Unlock()
	if old != nil {
		s.release(old)
	}
}

// amend makes c the catalogue of the last moment, whose data stays. mu is held.
func (s *Store) amend(c *catalogue) {
	s.catalogue = c
	s.read.Lock()
	defer s.read.Unlock()
	s.last = &moment{engine: s.last.engine, catalogue: c, snap: s.last.snap, base: s.last, refs: 1}
	s.last.engine.users++
}

// hold returns the last moment, for release.
func (s *Store) hold() *moment {
	s.read.Lock()
	defer s.read.Unlock()
	s.last.refs++
	return s.last
}

func (s *Store) release(m *moment) {
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

// retire gives e up and waits for nobody: what closing it said is to be had
// from the channel.
func (s *Store) retire(e *engine) <-chan error {
	s.read.Lock()
	e.users++
	e.retired = true
	s.read.Unlock()
	s.leave(e)
	return e.closed
}
