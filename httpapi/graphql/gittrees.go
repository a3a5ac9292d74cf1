package graphql

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// What is read of git at once.
const (
	maxTreeBytes   = 32 << 20
	maxCommitBytes = 4 << 20
	maxBlobBytes   = 32 << 20
)

type (
	treeEntry = git.Entry
	gitCommit = git.CommitObject
)

// gitTrees reads commits and trees of one repository, each once.
type gitTrees struct {
	session *session
	rec     *store.Repository

	mu      sync.Mutex // guards all below; held while something is read
	opened  bool
	repo    *git.Repo
	objects *git.ObjectReader
	err     error
	entries map[string][]treeEntry
	commits map[string]*gitCommit
}

func (t *gitTrees) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.objects != nil {
		t.objects.Close()
	}
}

// open opens the repository, once. The lock is held.
func (t *gitTrees) open(ctx context.Context) error {
	if t.opened {
		return t.err
	}
	t.repo, t.err = git.Open(ctx, t.session.Store.GitDir(t.rec))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.opened = true
	if t.err == nil {
		t.objects = t.repo.Objects()
	}
	return t.err
}

// gitRepo returns the repository for what is more than reading objects.
func (t *gitTrees) gitRepo(ctx context.Context) (*git.Repo, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.repo, t.open(ctx)
}

// resolve returns the commit that a revision names, or "" if there is none.
func (t *gitTrees) resolve(ctx context.Context, rev string) (string, error) {
	repo, err := t.gitRepo(ctx)
	if err != nil {
		return "", err
	}
	oid, err := repo.Resolve(ctx, rev)
	if errors.Is(err, git.ErrNoRevision) {
		return "", nil
	}
	return oid, err
}

// object reads an object of any kind.
func (t *gitTrees) object(ctx context.Context, oid string, maxBytes int64) (git.Object, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read(ctx, oid, maxBytes)
}

func (t *gitTrees) read(ctx context.Context, oid string, maxBytes int64) (git.Object, error) {
	if err := t.open(ctx); err != nil {
		return git.Object{}, err
	}
	return t.objects.Read(ctx, oid, maxBytes)
}

// commit reads a commit.
func (t *gitTrees) commit(ctx context.Context, oid string) (*gitCommit, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readCommit(ctx, oid)
}

func (t *gitTrees) readCommit(ctx context.Context, oid string) (*gitCommit, error) {
	if c := t.commits[oid]; c != nil {
		return c, nil
	}
	o, err := t.read(ctx, oid, maxCommitBytes)
	if err != nil {
		return nil, err
	}
	c, err := git.ParseCommit(o)
	if err != nil {
		return nil, err
	}
	t.commits[oid] = c
	return c, nil
}

// tree reads the entries of a tree.
func (t *gitTrees) tree(ctx context.Context, oid string) ([]treeEntry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readTree(ctx, oid)
}

func (t *gitTrees) readTree(ctx context.Context, oid string) ([]treeEntry, error) {
	if entries, ok := t.entries[oid]; ok {
		return entries, nil
	}
	o, err := t.read(ctx, oid, maxTreeBytes)
	if err != nil {
		return nil, err
	}
	entries, err := git.ParseTree(o)
	if err != nil {
		return nil, err
	}
	t.entries[oid] = entries
	return entries, nil
}

// at finds what stands at a clean path of a commit; ok is false for nothing.
func (t *gitTrees) at(ctx context.Context, commit, name string) (e treeEntry, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.readCommit(ctx, commit)
	if err != nil {
		return e, false, err
	}
	e = treeEntry{Mode: git.ModeTree, OID: c.Tree}
	if name == "" {
		return e, true, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !e.Directory() {
			return e, false, nil
		}
		entries, err := t.readTree(ctx, e.OID)
		if err != nil {
			return e, false, fmt.Errorf("path %q: %w", name, err)
		}
		if e, ok = find(entries, part); !ok {
			return e, false, nil
		}
	}
	return e, true, nil
}

func find(entries []treeEntry, name string) (treeEntry, bool) {
	for _, e := range entries {
		if e.Name == name {
			return e, true
		}
	}
	return treeEntry{}, false
}

// cleanPath returns a path as git has it, "" for the root. ok is false for one
// that leads out of it.
func cleanPath(name string) (clean string, ok bool) {
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	if strings.Contains("/"+name+"/", "/../") || strings.Contains(name, "\x00") {
		return "", false
	}
	return clean, true
}
