package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// engine is the database, opened once. When it can write no more another takes
// its place.
type engine struct {
	db       *pebble.DB
	failStop *failStop
	// users counts moments and work at hand; retired says that it is closed
	// when there are none, and what that says goes to closed. Store.read guards
	// them.
	users   int
	retired bool
	closed  chan error
}

// do runs f, which writes, and tells whether that reached the disk.
func (e *engine) do(f func() error) error {
	err := survive(f)
	if broken := e.failStop.err(); broken != nil {
		return fmt.Errorf("%w: %w", ErrBroken, broken)
	}
	return err
}

// reserveBytes is the free disk below which nothing is committed.
const reserveBytes = 16 << 20

// mendEvery is how long a store that is broken waits before it tries again to
// open the engine.
const mendEvery = time.Second

// writable fails when there is no use in writing. A store that is broken is
// mended if that can be done. mu is held.
func (s *Store) writable() error {
	if err := s.hasRoom(); err != nil {
		return err
	}
	if !s.engine.failStop.stopped() {
		return nil
	}
	if time.Since(s.tried) < mendEvery {
		return fmt.Errorf("%w: %w", ErrBroken, s.engine.failStop.err())
	}
	return s.mend()
}

// writableFrom is writable for a change that was prepared from basis, nil for
// one that depends on nothing. mu is held.
func (s *Store) writableFrom(basis *engine) error {
	if err := s.writable(); err != nil {
		return err
	}
	if basis != nil && basis != s.engine {
		return fmt.Errorf("%w: the store was opened again while the change was prepared", ErrBroken)
	}
	return nil
}

// hasRoom fails with ErrDiskFull when there is too little disk.
func (s *Store) hasRoom() error {
	free, err := s.FreeBytes()
	switch {
	case errors.Is(err, vfs.ErrUnsupported):
		return nil // a file system that cannot tell
	case err != nil:
		return err
	case free < reserveBytes:
		return fmt.Errorf("%w: %d MiB free at %s", ErrDiskFull, free>>20, s.dir)
	}
	return nil
}

// mend puts another engine in the place of one that can write no more. What
// was committed is there; what the last commit, which failed, was about may be.
// Those who read from the old one go on. mu is held.
func (s *Store) mend() error {
	why := s.engine.failStop.err()
	s.tried = time.Now()
	e, err := s.openEngine(FormatNewest)
	if err != nil {
		return fmt.Errorf("%w: %w; opening it again: %w", ErrBroken, why, err)
	}
	c, err := load(e.db)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w; reading it again: %w", ErrBroken, why, err), e.db.Close())
	}
	old := s.engine
	s.engine, s.catalogue = e, c
	s.publish(e, c)
	_ = s.retire(old) // it wrote nothing
	s.event("the store was opened again and takes changes", nil)
	return nil
}

// Mend makes a store that is broken, if it is, take changes again. Every change
// tries that too. It returns the reason when it cannot be done now.
func (s *Store) Mend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.engine.failStop.stopped() {
		return nil
	}
	if err := s.hasRoom(); err != nil {
		return err
	}
	return s.mend()
}

// write commits b to disk and shows next. When the engine could not write, what
// it holds in memory and what is on disk may differ: then the version before
// stays. mu is held.
func (s *Store) write(b *pebble.Batch, next *catalogue) error {
	if err := s.engine.do(func() error { return b.Commit(pebble.Sync) }); err != nil {
		return err
	}
	s.catalogue = next
	s.publish(s.engine, next)
	return nil
}

// batch returns a batch for write. mu is held.
func (s *Store) batch() *pebble.Batch { return s.engine.db.NewBatch() }

// allow returns the engine to work with outside of mu, for leave.
func (s *Store) allow() (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return nil, err
	}
	return s.enter(), nil
}

// ingest takes the run at path in.
func (s *Store) ingest(ctx context.Context, path string) error {
	e, err := s.allow()
	if err != nil {
		return err
	}
	defer s.leave(e)
	s.ingesting.RLock()
	defer s.ingesting.RUnlock()
	return e.do(func() error { return e.db.Ingest(ctx, []string{path}) })
}

// engineFailure is what the engine's logger panics with.
type engineFailure struct{ error }

// survive makes an error of the engine's giving up in f.
func survive(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case engineFailure:
			err = fmt.Errorf("%w: %w", ErrBroken, p.error)
		default:
			panic(p)
		}
	}()
	return f()
}
