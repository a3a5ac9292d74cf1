package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// reserveBytes is the free disk below which nothing is committed.
const reserveBytes = 16 << 20

// mendEvery is how long a store that is broken waits before it tries again to
// open the engine.
const mendEvery = time.Second

// writable fails when there is no use in writing. An engine that is broken is
// replaced if that can be done. mu is held.
func (w *committer) writable() error {
	if err := hasRoom(w.fs, w.dir); err != nil {
		return err
	}
	if err := w.engine.Err(); err == nil || time.Since(w.tried) < mendEvery {
		return err
	}
	return w.mend()
}

// hasRoom fails with ErrDiskFull when there is too little disk.
func hasRoom(fs vfs.FS, dir string) error {
	u, err := diskUsage(fs, dir)
	switch {
	case errors.Is(err, vfs.ErrUnsupported):
		return nil // a file system that cannot report it
	case err != nil:
		return err
	case u.FreeBytes < reserveBytes:
		return fmt.Errorf("%w: %d MiB free at %s", ErrDiskFull, u.FreeBytes>>20, dir)
	}
	return nil
}

// mend replaces an engine that can no longer write. The new one has all earlier
// commits, and perhaps the last one, which failed. Readers of the old one go
// on. mu is held.
func (w *committer) mend() error {
	why := w.engine.Err()
	w.tried = time.Now()
	e, err := w.engine.Reopen()
	if err != nil {
		return fmt.Errorf("%w; opening it again: %w", why, err)
	}
	c, err := load(e.DB)
	next := w.version + 1
	if w.follows && err == nil {
		next, _, err = appliedVersion(e.DB)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w; reading it again: %w", why, err), e.DB.Close())
	}
	old := w.engine
	w.engine = newDatabase(e)
	w.replace(next, c)
	_ = w.versions.retire(old) // it wrote nothing
	w.event("the store was opened again and takes changes", nil)
	return nil
}

// mendNow is Store.Mend.
func (w *committer) mendNow() error {
	w.mu.Lock()
	defer w.unlock()
	if w.engine.Err() == nil {
		return nil
	}
	if err := hasRoom(w.fs, w.dir); err != nil {
		return err
	}
	return w.mend()
}

// Mend makes a store that is broken, if it is, take changes again. Every change
// tries that too. It returns the reason when it cannot be done now.
func (s *Store) Mend() error { return s.committer.mendNow() }
