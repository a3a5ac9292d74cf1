package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// ErrFetching says that this node is still fetching the mirror of a repository that
// another node syncs. It can be read a little later.
var ErrFetching = errors.New("the mirror is still being fetched")

// Mirrors has the git repositories of a shared store where this node can read them. An
// ingest.Indexer does.
type Mirrors interface {
	// Ready waits until the git repository of r is on this node, with the commits that
	// are indexed. It fails with ErrFetching when that takes long, and with
	// git.ErrNotRepository when it cannot be had.
	Ready(ctx context.Context, r *Repository) error
	// State changes with what the revisions of a repository name on this node, beside
	// its record.
	State(id uint32) uint64
}

// Shared reports whether the store follows a log that other nodes write, too.
func (s *Store) Shared() bool {
	_, ok := s.authority.(*sharedAuthority)
	return ok
}

// SetMirrors has m asked before a git repository is read. A store of one machine needs
// none.
func (s *Store) SetMirrors(m Mirrors) { s.mirrors.Store(&m) }

// GitDir returns where the git repository of r is: its source, or its mirror in
// the data directory. The mirror is named by ID, so that no name can lead out
// of it and one of a removed repository is never taken for that of a new one.
func (s *Store) GitDir(r *Repository) string {
	if !r.Mirror {
		return r.Source
	}
	return filepath.Join(s.dir, "mirrors", fmt.Sprintf("%d.git", r.ID))
}

// ReadyGitDir returns GitDir once it can be read on this node.
func (s *Store) ReadyGitDir(ctx context.Context, r *Repository) (string, error) {
	if m := s.mirrors.Load(); m != nil {
		if err := (*m).Ready(ctx, r); err != nil {
			return "", err
		}
	}
	return s.GitDir(r), nil
}

// GitState changes with what revisions of r name on this node, when neither the
// record does nor Fetched. It is 0 on one machine.
func (s *Store) GitState(r *Repository) uint64 {
	if m := s.mirrors.Load(); m != nil {
		return (*m).State(r.ID)
	}
	return 0
}
