package store

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store/disk"
)

// checkpointDir is where a checkpoint is, in the data directory: files of the
// engine are linked into it, which takes the same file system.
const checkpointDir = "checkpoint"

// ErrCheckpoint is that of a second checkpoint beside an open one.
var ErrCheckpoint = errors.New("a checkpoint of the data directory is open already")

// Checkpoint is a snapshot of a store in a directory that another Store can
// open. Its tables are hard links, so it costs milliseconds and a few megabytes
// at first, and more disk as the engine replaces tables meanwhile.
type Checkpoint struct {
	s   *Store
	dir string
}

// Checkpoint makes a checkpoint of what is committed. There is one at a time;
// its Close removes it, and so does Open what a crash left.
func (s *Store) Checkpoint() (*Checkpoint, error) {
	if !s.checkpoint.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("checkpoint: %w", ErrCheckpoint)
	}
	c := &Checkpoint{s, s.fs.PathJoin(s.dir, checkpointDir)}
	if err := c.make(); err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: %w", err), c.Close())
	}
	return c, nil
}

func (c *Checkpoint) make() error {
	s := c.s
	v, err := knownFormat(s.fs, s.dir)
	if err != nil {
		return err
	}
	if err := s.committer.ready(); err != nil {
		return err
	}
	// Remove the leftovers of an earlier Close.
	if err := s.fs.RemoveAll(c.dir); err != nil {
		return err
	}
	if err := s.fs.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := s.committer.link(index(s.fs, c.dir)); err != nil {
		return err
	}
	return writeFormat(s.fs, c.dir, v)
}

// Dir returns the directory, which is on the store's file system.
func (c *Checkpoint) Dir() string { return c.dir }

// Close removes the directory.
func (c *Checkpoint) Close() error {
	err := c.s.fs.RemoveAll(c.dir)
	c.s.checkpoint.Store(false)
	if err != nil {
		return fmt.Errorf("remove checkpoint: %w", err)
	}
	return nil
}

// FS returns the file system that the store is on.
func (s *Store) FS() disk.FS { return s.fs }

// Format returns the format version of the data directory dir, 0 if it has
// none, or a *FormatError if this program does not read it.
func Format(fs disk.FS, dir string) (FormatVersion, error) { return knownFormat(fs, dir) }
