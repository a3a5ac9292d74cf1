package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// reserveBytes is the free disk below which nothing is committed: the engine
// cannot be stopped gently once its log does not fit the disk.
const reserveBytes = 16 << 20

// writable fails when there is no use in writing. mu is held.
func (s *Store) writable() error {
	if s.broken != nil {
		return s.broken
	}
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

// write commits b to disk. When the engine gives up, what it holds in memory
// and what is on disk may differ: from then on the store serves what it held
// before, and takes no more. mu is held.
func (s *Store) write(b *pebble.Batch) error {
	before := s.db.NewSnapshot()
	err := survive(func() error { return b.Commit(pebble.Sync) })
	if err == nil || !errors.Is(err, ErrBroken) {
		return errors.Join(err, before.Close())
	}
	s.broken, s.frozen = err, before
	return err
}

// ingest takes the run at path in.
func (s *Store) ingest(ctx context.Context, path string) error {
	s.mu.Lock()
	err := s.writable()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	err = survive(func() error { return s.db.Ingest(ctx, []string{path}) })
	if errors.Is(err, ErrBroken) {
		s.mu.Lock()
		s.broken = err
		s.mu.Unlock()
	}
	return err
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
