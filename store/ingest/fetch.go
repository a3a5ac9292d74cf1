package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
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
func (ix *Indexer) fetch(ctx context.Context, id uint32, anew bool, report func(Progress)) fetched {
	sn := ix.store.Snapshot()
	r := sn.RepositoryByID(id)
	settled := r != nil && !anew && ix.settled(sn, r)
	if err := sn.Close(); err != nil || r == nil {
		return fetched{err: errors.Join(err, notThere(r))}
	}
	if !r.Mirror {
		if f := ix.look(ctx, r, settled); f.unchanged != nil {
			return f
		}
		return fetched{at: ix.opts.Now().UTC()} // it is opened when it is read
	}
	if err := ix.Room.Ready(); err != nil {
		return fetched{err: err}
	}
	select {
	case ix.fetches <- struct{}{}:
	default:
		report(Progress{Phase: "wait"})
		select {
		case ix.fetches <- struct{}{}:
			report(Progress{Phase: "fetch"})
		case <-ctx.Done():
			return fetched{err: fmt.Errorf("wait for others to be fetched: %w", context.Cause(ctx))}
		}
	}
	defer func() { <-ix.fetches }()
	start := ix.opts.Now()
	ctx, end := ix.Room.watch(ctx)
	defer end()
	ctx, traced := span.Start(ctx, "sync", "fetch")
	if f := ix.look(ctx, r, settled); f.unchanged != nil || f.err != nil {
		traced(f.err)
		return f
	}
	ix.copies.move(id)
	note := func(line string) { report(Progress{Phase: "fetch", Note: line}) }
	repo, err := ix.mirror(ctx, r, anew, note)
	if err == nil {
		err = repo.Fetch(ctx, note)
	}
	traced(err)
	now := ix.opts.Now()
	return fetched{git: repo, err: err, at: now.UTC(), took: now.Sub(start)}
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
func (ix *Indexer) look(ctx context.Context, r *store.Repository, settled bool) fetched {
	if !settled {
		return fetched{}
	}
	start := ix.opts.Now()
	same, err := ix.unchanged(ctx, r)
	now := ix.opts.Now()
	f := fetched{err: err, at: now.UTC(), took: now.Sub(start)}
	if same && err == nil {
		r.NoteFetched(f.at)
		ix.copies.looked(r.ID)
		f.unchanged = r
	}
	return f
}

// address is that of a source, with what signs in at its host. It is shown nowhere.
func (ix *Indexer) address(r *store.Repository) string {
	if !r.Guarded || ix.opts.Credentials == nil {
		return r.Source
	}
	u, err := url.Parse(r.Source)
	if err != nil || u.User != nil {
		return r.Source
	}
	if u.User = ix.opts.Credentials(r); u.User == nil {
		return r.Source
	}
	return u.String()
}

func (ix *Indexer) mirror(ctx context.Context, r *store.Repository, anew bool, note func(string)) (*git.Repo, error) {
	dir := ix.store.GitDirs().Dir(r)
	if !r.Guarded {
		if anew {
			if err := ix.opts.Git.Renew(ctx, r.Source, dir, note); err != nil {
				return nil, err
			}
		}
		return ix.opts.Git.Mirror(ctx, r.Source, dir, note)
	}
	if ix.opts.Proxy == nil {
		return nil, errors.New("a source that was named over the API is fetched by a server only")
	}
	proxy, err := ix.opts.Proxy()
	if err != nil {
		return nil, err
	}
	if anew {
		if err := ix.opts.Git.RenewThrough(ctx, proxy, ix.address(r), dir, note); err != nil {
			return nil, err
		}
	}
	return ix.opts.Git.MirrorThrough(ctx, proxy, ix.address(r), dir, note)
}

// VerifyMirror reads the mirror of a repository, while no sync has it, and
// calls fault for each fault. A mirror that does not exist is no fault: the
// next sync fetches it.
func (ix *Indexer) VerifyMirror(ctx context.Context, r *store.Repository, quick bool, fault func(problem string)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	leave, err := ix.holds.take(ctx, r.ID, end, func(*hold) {})
	if err != nil {
		return fmt.Errorf("verify the mirror of %q: %w", r.Name, err)
	}
	defer leave()
	dir := ix.store.GitDirs().Dir(r)
	if _, err := os.Stat(dir); !r.Mirror || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err = ix.opts.Git.Verify(ctx, dir, quick, fault)
	if context.Cause(ctx) == errRemoved {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("verify the mirror of %q: %w", r.Name, err)
	}
	return err
}
