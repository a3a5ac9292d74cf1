package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
)

// ErrFetching says that this node is still fetching the mirror of a repository that
// another node syncs. It can be read a little later.
var ErrFetching = errors.New("the mirror is still being fetched")

// Mirrors has the git repositories of a shared store where this node can read them.
// Package ingest has one.
type Mirrors interface {
	// Ready waits until the git repository of r is on this node, with the commits that
	// are indexed. It fails with ErrFetching when that takes long, and with
	// git.ErrNotRepository when it cannot be had.
	Ready(ctx context.Context, r *Repository) error
	// State changes with what the revisions of a repository name on this node, beside
	// its record.
	State(id uint32) uint64
}

// GitDirs tells where the git repositories of a store are, and guards whom it asks
// before one is read.
type GitDirs struct {
	// data is the data directory.
	data string
	// mirrors is nil on one machine.
	mirrors atomic.Pointer[Mirrors]
}

// GitDirs returns where the git repositories of the store are.
func (s *Store) GitDirs() *GitDirs { return &s.gitDirs }

// SetMirrors has m asked before a git repository is read. A store of one machine needs
// none.
func (g *GitDirs) SetMirrors(m Mirrors) { g.mirrors.Store(&m) }

// Dir returns where the git repository of r is: its source, or its mirror in
// the data directory. The mirror is named by ID, so that no name can lead out
// of it and one of a removed repository is never taken for that of a new one.
func (g *GitDirs) Dir(r *Repository) string {
	if !r.Mirror {
		return r.Source
	}
	return filepath.Join(g.data, "mirrors", fmt.Sprintf("%d.git", r.ID))
}

// Ready returns Dir once it can be read on this node.
func (g *GitDirs) Ready(ctx context.Context, r *Repository) (string, error) {
	if m := g.mirrors.Load(); m != nil {
		if err := (*m).Ready(ctx, r); err != nil {
			return "", err
		}
	}
	return g.Dir(r), nil
}

// State changes with what revisions of r name on this node, when neither the
// record does nor Fetched. It is 0 on one machine.
func (g *GitDirs) State(r *Repository) uint64 {
	if m := g.mirrors.Load(); m != nil {
		return (*m).State(r.ID)
	}
	return 0
}
