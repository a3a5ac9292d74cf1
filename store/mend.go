package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

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
	if err := s.engine.Err(); err == nil || time.Since(s.tried) < mendEvery {
		return err
	}
	return s.mend()
}

// hasRoom fails with ErrDiskFull when there is too little disk.
func (s *Store) hasRoom() error {
	disk, err := s.Disk()
	switch {
	case errors.Is(err, vfs.ErrUnsupported):
		return nil // a file system that cannot report it
	case err != nil:
		return err
	case disk.FreeBytes < reserveBytes:
		return fmt.Errorf("%w: %d MiB free at %s", ErrDiskFull, disk.FreeBytes>>20, s.dir)
	}
	return nil
}

// mend replaces an engine that can no longer write. The new one has all earlier
// commits, and perhaps the last one, which failed. Readers of the old one go
// on. mu is held.
func (s *Store) mend() error {
	why := s.engine.Err()
	s.tried = time.Now()
	e, err := s.engine.Reopen()
	if err != nil {
		return fmt.Errorf("%w; opening it again: %w", why, err)
	}
	c, err := load(e.DB)
	next := s.version + 1
	if s.Shares() && err == nil {
		next, _, err = appliedVersion(e.DB)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w; reading it again: %w", why, err), e.DB.Close())
	}
	old, before := s.engine, s.catalogue
	s.engine = newDatabase(e)
	s.journal.forget(next)
	s.publish(next, c)
	s.deliveries.add(reopened(s.version, before, c))
	_ = s.versions.retire(old) // it wrote nothing
	s.options.Event("the store was opened again and takes changes", nil)
	return nil
}

// Mend makes a store that is broken, if it is, take changes again. Every change
// tries that too. It returns the reason when it cannot be done now.
func (s *Store) Mend() error {
	s.mu.Lock()
	defer s.unlock()
	if s.engine.Err() == nil {
		return nil
	}
	if err := s.hasRoom(); err != nil {
		return err
	}
	return s.mend()
}

// allow returns the engine to work with outside of mu, for leave.
func (s *Store) allow() (*database, error) {
	s.mu.Lock()
	defer s.unlock()
	if err := s.writable(); err != nil {
		return nil, err
	}
	return s.versions.enter(), nil
}

// update calls f, which may write, with the engine.
func (s *Store) update(f func(*pebble.DB) error) error {
	e, err := s.allow()
	if err != nil {
		return err
	}
	defer s.versions.leave(e)
	return e.Do(func() error { return f(e.DB) })
}

// ingest takes in the run at path.
func (s *Store) ingest(ctx context.Context, path string) error {
	return s.update(func(db *pebble.DB) error {
		s.ingesting.RLock()
		defer s.ingesting.RUnlock()
		return db.Ingest(ctx, []string{path})
	})
}
