package code

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// The limits of reads into memory, in bytes.
const (
	MaxTreeBytes   = 32 << 20
	MaxCommitBytes = 4 << 20
	MaxBlobBytes   = 32 << 20
)

// The size of a Reader's caches, in bytes: entries of trees, and commits, each
// up to a size. A repository has trees and commits of megabytes.
const (
	maxKeptEntryBytes   = 1 << 20
	maxKeptCommitsBytes = 512 << 10
	maxKeptCommitBytes  = 32 << 10
	// entryBytes and commitBytes are what one holds beside its text.
	entryBytes  = 100
	commitBytes = 300
)

// Reader reads one repository, and each small commit and tree once. It is safe
// for concurrent use: reads wait for each other.
type Reader struct {
	store  *store.Store
	of     *store.Repository
	budget *git.Budget

	mu      sync.Mutex // guards all below; held while something is read
	opened  bool
	repo    *git.Repo
	objects *git.ObjectReader
	err     error
	entries map[string][]git.Entry
	commits map[string]*git.CommitObject
	// keptEntries and keptCommits are what entries and commits hold.
	keptEntries, keptCommits int
}

// NewReader returns a reader of the git repository of r, which is opened by
// the first read, by processes that share the budget. Close must be called to
// end its process.
func NewReader(budget *git.Budget, st *store.Store, r *store.Repository) *Reader {
	return &Reader{store: st, of: r, budget: budget, entries: map[string][]git.Entry{}, commits: map[string]*git.CommitObject{}}
}

// Close ends the reader's process, if there is one. It may be called again.
func (t *Reader) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.objects != nil {
		t.objects.Close()
	}
}

// open opens the repository, once. The lock is held.
func (t *Reader) open(ctx context.Context) error {
	if t.opened {
		return t.err
	}
	dir, err := t.store.GitDirs().Ready(ctx, t.of)
	if err == nil {
		t.repo, err = t.budget.Open(ctx, dir)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.opened, t.err = true, err
	if t.err == nil {
		t.objects = t.repo.Objects()
	}
	return t.err
}

// Repo returns the repository for what is more than reading objects.
func (t *Reader) Repo(ctx context.Context) (*git.Repo, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.repo, t.open(ctx)
}

// Resolve returns the commit that a revision names, or "" if there is none.
func (t *Reader) Resolve(ctx context.Context, rev string) (string, error) {
	repo, err := t.Repo(ctx)
	if err != nil {
		return "", err
	}
	oid, err := repo.Resolve(ctx, rev)
	if errors.Is(err, git.ErrNoRevision) {
		return "", nil
	}
	return oid, err
}

// Object reads an object of any kind, with the errors of git.ObjectReader.
func (t *Reader) Object(ctx context.Context, oid string, maxBytes int64) (git.Object, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read(ctx, oid, maxBytes)
}

// Size returns how many bytes an object has, as git.ObjectReader does.
func (t *Reader) Size(ctx context.Context, oid string) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(ctx); err != nil {
		return 0, err
	}
	return t.objects.Size(ctx, oid)
}

// Copy writes an object of any size, as git.ObjectReader does.
func (t *Reader) Copy(ctx context.Context, oid string, begin func(kind string, size int64) (io.Writer, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(ctx); err != nil {
		return err
	}
	return t.objects.Copy(ctx, oid, begin)
}

func (t *Reader) read(ctx context.Context, oid string, maxBytes int64) (git.Object, error) {
	if err := t.open(ctx); err != nil {
		return git.Object{}, err
	}
	return t.objects.Read(ctx, oid, maxBytes)
}

// Commit reads a commit.
func (t *Reader) Commit(ctx context.Context, oid string) (*git.CommitObject, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readCommit(ctx, oid)
}

func (t *Reader) readCommit(ctx context.Context, oid string) (*git.CommitObject, error) {
	if c := t.commits[oid]; c != nil {
		return c, nil
	}
	o, err := t.read(ctx, oid, MaxCommitBytes)
	if err != nil {
		return nil, err
	}
	c, err := git.ParseCommit(o)
	if err != nil {
		return nil, err
	}
	if n := len(o.Data) + commitBytes; n <= maxKeptCommitBytes && t.keptCommits+n <= maxKeptCommitsBytes {
		t.keptCommits += n
		t.commits[oid] = c
	}
	return c, nil
}

// Tree reads the entries of a tree, in git's order.
func (t *Reader) Tree(ctx context.Context, oid string) ([]git.Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readTree(ctx, oid)
}

func (t *Reader) readTree(ctx context.Context, oid string) ([]git.Entry, error) {
	if entries, ok := t.entries[oid]; ok {
		return entries, nil
	}
	o, err := t.read(ctx, oid, MaxTreeBytes)
	if err != nil {
		return nil, err
	}
	entries, err := git.ParseTree(o)
	if err != nil {
		return nil, err
	}
	t.keep(oid, entries)
	return entries, nil
}

// keep remembers a tree, if there is room. The lock is held.
func (t *Reader) keep(oid string, entries []git.Entry) {
	n := 0
	for _, e := range entries {
		n += entryBytes + len(e.Name)
	}
	if t.keptEntries+n <= maxKeptEntryBytes {
		t.keptEntries += n
		t.entries[oid] = entries
	}
}

// EachEntry calls f with the entries of a tree, in git's order, without holding
// them. f returns false for no more of them.
func (t *Reader) EachEntry(ctx context.Context, oid string, f func(git.Entry) bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.eachEntry(ctx, oid, f)
}

func (t *Reader) eachEntry(ctx context.Context, oid string, f func(git.Entry) bool) error {
	if entries, ok := t.entries[oid]; ok {
		for _, e := range entries {
			if !f(e) {
				break
			}
		}
		return nil
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	return t.objects.EachEntry(ctx, oid, MaxTreeBytes, f)
}

// At finds what stands at a clean path of a commit, "" being its tree; ok is
// false for nothing. Symbolic links are not followed.
func (t *Reader) At(ctx context.Context, commit, name string) (e git.Entry, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := t.readCommit(ctx, commit)
	if err != nil {
		return e, false, err
	}
	e = git.Entry{Mode: git.ModeTree, OID: c.Tree}
	if name == "" {
		return e, true, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if !e.Directory() {
			return e, false, nil
		}
		e, ok, err = t.find(ctx, e.OID, part)
		if err != nil {
			return e, false, fmt.Errorf("path %q: %w", name, err)
		}
		if !ok {
			return e, false, nil
		}
	}
	return e, true, nil
}

// maxFoundEntries is how large a tree is kept in which something was looked for.
const maxFoundEntries = 1000

// find finds an entry of a tree. A small tree is kept for the next question.
func (t *Reader) find(ctx context.Context, tree, name string) (found git.Entry, ok bool, err error) {
	var all []git.Entry
	err = t.eachEntry(ctx, tree, func(e git.Entry) bool {
		if e.Name == name && !ok {
			found, ok = e, true
		}
		if len(all) <= maxFoundEntries {
			all = append(all, e)
		}
		return !ok || len(all) <= maxFoundEntries
	})
	if _, known := t.entries[tree]; err == nil && !known && len(all) <= maxFoundEntries {
		t.keep(tree, all)
	}
	return found, ok, err
}
