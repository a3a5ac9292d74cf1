package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/span"
)

// mostFetches is how many mirrors are fetched side by side. A remote may be
// slow for a quarter of an hour and longer; it takes three of them to keep
// others waiting, and a fourth is for what was pushed to meanwhile. The memory of git's
// processes is bounded by their budget however many there are.
const mostFetches = 4

// Mirrors are the git repositories of a store, each as its source was when it was
// fetched last. It guards how many syncs fetch at once.
type Mirrors struct {
	store   *store.Store
	opts    Options
	sources *sources
	room    *Room
	// holds are the repositories that one task has to itself.
	holds *holds
	// fetches holds a token for each mirror that is fetched.
	fetches chan struct{}
	// copies are the mirrors that other nodes sync, nil for a store of one machine.
	copies *copies
}

func newMirrors(s *store.Store, o Options, from *sources, room *Room, holds *holds) *Mirrors {
	m := &Mirrors{store: s, opts: o, sources: from, room: room, holds: holds, fetches: make(chan struct{}, mostFetches)}
	if s.Node().Shares() {
		m.copies = newCopies(s, o.Now, from, room, holds)
		s.GitDirs().SetMirrors(m.copies)
	}
	return m
}

// open returns the git repository of r once it is on this node.
func (m *Mirrors) open(ctx context.Context, r *store.Repository) (*git.Repo, error) {
	if m.copies != nil {
		if err := m.copies.wait(ctx, r, nil); err != nil {
			return nil, err
		}
	}
	return m.sources.open(ctx, r)
}

// fetched is the mirror of a source, or why it could not be brought up to date.
// git is nil for a source that has none.
type fetched struct {
	git *git.Repo
	err error
	// at is when it was, took how long.
	at   time.Time
	took time.Duration
	// unchanged, if not nil, is the record of a repository whose source is as it is
	// indexed; git is nil then.
	unchanged *store.Repository
}

// fetch brings the mirror of a repository up to date, or makes it anew, while
// others are indexed. The repository is held.
func (m *Mirrors) fetch(ctx context.Context, id uint32, anew bool, report func(Progress)) fetched {
	sn := m.store.Snapshot()
	r := sn.RepositoryByID(id)
	upToDate := r != nil && !anew && m.opts.isUpToDate(sn, r)
	if err := sn.Close(); err != nil || r == nil {
		return fetched{err: errors.Join(err, notThere(r))}
	}
	if !r.Mirror {
		if f := m.look(ctx, r, upToDate); f.unchanged != nil {
			return f
		}
		return fetched{at: m.opts.Now().UTC()} // it is opened when it is read
	}
	if err := m.room.Ready(); err != nil {
		return fetched{err: err}
	}
	select {
	case m.fetches <- struct{}{}:
	default:
		report(Progress{Phase: "wait"})
		select {
		case m.fetches <- struct{}{}:
			report(Progress{Phase: "fetch"})
		case <-ctx.Done():
			return fetched{err: fmt.Errorf("wait for others to be fetched: %w", context.Cause(ctx))}
		}
	}
	defer func() { <-m.fetches }()
	start := m.opts.Now()
	ctx, end := m.room.watch(ctx)
	defer end()
	ctx, traced := span.Start(ctx, "sync", "fetch")
	if f := m.look(ctx, r, upToDate); f.unchanged != nil || f.err != nil {
		traced(f.err)
		return f
	}
	m.copies.move(id)
	note := func(line string) { report(Progress{Phase: "fetch", Note: line}) }
	mirror, err := m.sources.mirror(ctx, r, anew, note)
	if err == nil {
		err = mirror.Fetch(ctx, note)
	}
	traced(err)
	now := m.opts.Now()
	f := fetched{err: err, at: now.UTC(), took: now.Sub(start)}
	if err == nil {
		f.git = mirror.Repo
	}
	return f
}

// notThere is the error of a record that is none.
func notThere(r *store.Repository) error {
	if r == nil {
		return store.ErrNotFound
	}
	return nil
}

// look is the fetch of a source that has not changed. It returns nothing for one
// that may have.
func (m *Mirrors) look(ctx context.Context, r *store.Repository, upToDate bool) fetched {
	if !upToDate {
		return fetched{}
	}
	start := m.opts.Now()
	same, err := m.sources.unchanged(ctx, r)
	now := m.opts.Now()
	f := fetched{err: err, at: now.UTC(), took: now.Sub(start)}
	if same && err == nil {
		r.NoteFetched(f.at)
		m.copies.looked(r.ID)
		f.unchanged = r
	}
	return f
}

// Verify reads the mirror of a repository, while no sync has it, and
// calls fault for each fault. A mirror that does not exist is no fault: the
// next sync fetches it.
func (m *Mirrors) Verify(ctx context.Context, r *store.Repository, quick bool, fault func(problem string)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	leave, err := m.holds.take(ctx, r.ID, end, func(*hold) {})
	if err != nil {
		return fmt.Errorf("verify the mirror of %q: %w", r.Name, err)
	}
	defer leave()
	dir := m.store.GitDirs().Dir(r)
	if _, err := os.Stat(dir); !r.Mirror || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err = m.opts.Git.Verify(ctx, dir, quick, fault)
	if context.Cause(ctx) == errRemoved {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("verify the mirror of %q: %w", r.Name, err)
	}
	return err
}
