package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// copies are the git repositories of a store that several nodes share, as this node
// reads them. The node that syncs a repository keeps its mirror up to date. Any other
// node fetches one when it is read, and again when it lacks a commit that the record
// names. The branches that the record names are set to its commits, so that revisions
// which begin at one of them are the same on all nodes that have the record. Other
// branches and tags are as they were when this node last fetched.
//
// A copy is brought up to date once for all who wait for it, in the background: it goes
// on when none of them waits any more.
type copies struct {
	store   *store.Store
	now     func() time.Time
	sources *sources
	room    *Room
	holds   *holds
	// ctx ends what goes on, with stop.
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	// fetches holds a token for each copy that is fetched. Syncs have their own.
	fetches chan struct{}

	mu   sync.Mutex // guards all below
	of   map[uint32]*repositoryCopy
	over bool
}

// repositoryCopy is what is known of one of them.
type repositoryCopy struct {
	// record is the newest one whose commits it is known to have, nil for none. exact
	// says that its branches are those of it.
	record *store.Repository
	exact  bool
	// state counts changes.
	state uint64
	// fetched is when it was last compared with its source, or first read.
	fetched time.Time
	// coming is the task that is at work on it.
	coming *arrival
	// failed is the task that failed last.
	failed *arrival
}

// arrival is a task that brings a copy up to date.
type arrival struct {
	ended chan struct{} // closed when it has
	// generation is that of the record it was for; the rest is set when it has ended.
	generation uint64
	at         time.Time
	err        error
}

const (
	// copyWait is how long a request waits for a copy, and half of the time that it
	// has is the most.
	copyWait = 10 * time.Second
	// copyAge is the age of a copy at which it is compared with its source by the next
	// request, which does not wait for that.
	copyAge = time.Hour
	// copyRetry is how long requests get the error of a copy that could not be fetched.
	copyRetry = 10 * time.Second
)

func newCopies(s *store.Store, now func() time.Time, from *sources, room *Room, holds *holds) *copies {
	c := &copies{
		store: s, now: now, sources: from, room: room, holds: holds,
		fetches: make(chan struct{}, mostFetches), of: map[uint32]*repositoryCopy{},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	s.Subscribe(func(a store.Applied) {
		for _, r := range a.Repositories {
			if r.After == nil && r.Before.Mirror {
				c.remove(r.Before)
			}
		}
	})
	return c
}

// close ends what is at work.
func (c *copies) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.stop()
	c.running.Wait()
}

// Ready implements store.Mirrors.
func (c *copies) Ready(ctx context.Context, r *store.Repository) error {
	if c.has(r) {
		return nil
	}
	most := copyWait
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/2)
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	return c.wait(ctx, r, timer.C)
}

// State implements store.Mirrors.
func (c *copies) State(id uint32) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.of[id]; known != nil {
		return known.state
	}
	return 0
}

// has reports whether the copy can be read as it is. One that is old is looked at in
// the background.
func (c *copies) has(r *store.Repository) bool {
	if !r.Indexed() {
		return true // nothing is read of it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.of[r.ID]
	if known == nil || !known.exact || !known.covers(r) {
		return false
	}
	if r.Mirror && known.coming == nil && c.now().Sub(known.fetched) > copyAge {
		c.begin(known, r, c.renew)
	}
	return true
}

// covers reports whether the copy has the commits of a record. It keeps those of
// earlier ones as the mirror of a node that syncs does.
func (k *repositoryCopy) covers(r *store.Repository) bool {
	return k.record != nil && (r.Generation < k.record.Generation ||
		r.Generation == k.record.Generation && slices.Equal(r.Branches, k.record.Branches))
}

// wait waits until the copy can be read, with ErrFetching when late comes first; nil
// never does.
func (c *copies) wait(ctx context.Context, r *store.Repository, late <-chan time.Time) error {
	for !c.has(r) {
		a, err := c.arrival(r)
		if err != nil {
			return err
		}
		select {
		case <-a.ended:
		case <-ctx.Done():
			select {
			case <-late: // both are over in a process that stood still, and this says more
				return errComing(r)
			default:
			}
			return fmt.Errorf("wait for the mirror of %q: %w", r.Name, context.Cause(ctx))
		case <-late:
			return errComing(r)
		}
		if a.err != nil || a.generation >= r.Generation {
			return a.err
		}
	}
	return nil
}

func errComing(r *store.Repository) error {
	return fmt.Errorf("%w: %w: %q", git.ErrNotRepository, store.ErrFetching, r.Name)
}

// arrival returns the task that brings the copy up to date, or the error of one that
// has failed for this record just now.
func (c *copies) arrival(r *store.Repository) (*arrival, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.of[r.ID]
	if known == nil {
		known = &repositoryCopy{}
		c.of[r.ID] = known
	}
	switch f := known.failed; {
	case known.coming != nil:
	case f != nil && f.generation >= r.Generation && c.now().Sub(f.at) < copyRetry:
		return nil, f.err
	case c.over:
		return nil, context.Canceled
	default:
		c.begin(known, r, c.bring)
	}
	return known.coming, nil
}

// begin begins a task for a copy that has none. The lock is held.
func (c *copies) begin(known *repositoryCopy, r *store.Repository, task func(context.Context, *store.Repository) (bool, error)) {
	if c.over {
		return
	}
	a := &arrival{ended: make(chan struct{}), generation: r.Generation}
	known.coming = a
	known.state++
	c.running.Go(func() {
		exact, err := false, error(fmt.Errorf("repository %q: %w", r.Name, store.ErrNotFound))
		if present := c.present(r.ID); present != nil {
			r = present // it may be newer than the one that a request has
			exact, err = task(c.ctx, r)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		now := c.now()
		known.coming = nil
		known.state++
		a.at, a.err, a.generation = now, err, max(a.generation, r.Generation)
		if err != nil {
			known.failed = a
		} else {
			known.record, known.exact, known.failed = r, exact, nil
		}
		if known.fetched.IsZero() {
			known.fetched = now
		}
		close(a.ended)
	})
}

func (c *copies) present(id uint32) *store.Repository {
	sn := c.store.Snapshot()
	defer func() { _ = sn.Close() }()
	return sn.RepositoryByID(id)
}

// bring has a copy have the commits of a record. exact says that its branches are those
// of the record; while a sync of this node has the mirror they may be newer.
func (c *copies) bring(ctx context.Context, r *store.Repository) (exact bool, err error) {
	dir := c.store.GitDirs().Dir(r)
	if !r.Mirror {
		repo, err := c.sources.open(ctx, r)
		if err != nil {
			return false, err
		}
		lacked, err := c.lacks(ctx, repo, r)
		if lacked != "" {
			err = fmt.Errorf("%w: %s is read in place, and that folder of this node lacks commit %s, which is indexed", git.ErrNotRepository, dir, lacked)
		}
		return true, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	other, leave := c.holds.try(r.ID, end)
	if other != nil {
		if _, err := c.complete(ctx, r); err == nil {
			return false, nil // the sync may have moved branches
		}
		if leave, err = c.holds.take(ctx, r.ID, end, func(*hold) {}); err != nil {
			return false, err
		}
	}
	defer leave()
	if err := git.RecoverMirror(dir); err != nil {
		return false, err
	}
	if hasBranches(dir, r.Branches) {
		return true, nil
	}
	repo, err := c.complete(ctx, r)
	if err != nil {
		if repo, err = c.fetch(ctx, r); err != nil {
			return false, c.away(ctx, r, err)
		}
	}
	return true, c.setBranches(ctx, repo, r)
}

// renew compares a copy with its source. What fails here the next request need not
// know: the copy has what the record names.
func (c *copies) renew(ctx context.Context, r *store.Repository) (exact bool, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	other, leave := c.holds.try(r.ID, end)
	if other != nil {
		return false, nil // a sync does the same
	}
	defer leave()
	c.looked(r.ID)
	same, err := c.sources.unchanged(ctx, r)
	if same {
		return true, nil
	}
	var repo *git.Repo
	if err == nil {
		repo, err = c.fetch(ctx, r)
	}
	if err == nil {
		err = c.setBranches(ctx, repo, r)
	}
	return hasBranches(c.store.GitDirs().Dir(r), r.Branches), nil
}

// looked notes that a copy was compared with its source.
func (c *copies) looked(id uint32) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.of[id]; known != nil {
		known.fetched = c.now()
	}
}

// move notes that a sync changes the branches of a mirror of this node.
func (c *copies) move(id uint32) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.of[id]; known != nil {
		known.exact, known.fetched = false, c.now()
	}
}

// fetch fetches the mirror of a repository, which is held, while there is room. It
// fails if that does not have the commits of the record then.
func (c *copies) fetch(ctx context.Context, r *store.Repository) (*git.Repo, error) {
	if err := c.room.check(); err != nil {
		return nil, err
	}
	select {
	case c.fetches <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-c.fetches }()
	ctx, end := c.room.watch(ctx)
	defer end()
	_, err := os.Stat(c.store.GitDirs().Dir(r))
	there := err == nil
	mirror, err := c.sources.mirror(ctx, r, false, nil)
	if err == nil && there {
		err = mirror.Fetch(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	c.looked(r.ID)
	lacked, err := c.lacks(ctx, mirror.Repo, r)
	if lacked == "" {
		return mirror.Repo, err
	}
	// A branch was rewritten that is not synced yet. The source may still have what it
	// named before.
	why := mirror.FetchCommits(ctx, commitsOf(r))
	if lacked, err = c.lacks(ctx, mirror.Repo, r); lacked != "" {
		err = fmt.Errorf("the source has no commit %s any more, which is indexed until the next sync: %w", lacked, cmp.Or(why, git.ErrNoRevision))
	}
	return mirror.Repo, err
}

// complete returns the mirror of a repository if it has the commits of the record.
func (c *copies) complete(ctx context.Context, r *store.Repository) (*git.Repo, error) {
	repo, err := c.sources.open(ctx, r)
	if err != nil {
		return nil, err
	}
	lacked, err := c.lacks(ctx, repo, r)
	if lacked != "" {
		err = fmt.Errorf("%w: %s", git.ErrNoRevision, lacked)
	}
	return repo, err
}

// lacks returns a commit of the record that a repository does not have, "" if it has
// all.
func (c *copies) lacks(ctx context.Context, repo *git.Repo, r *store.Repository) (string, error) {
	wanted := commitsOf(r)
	found, err := repo.Commits(ctx, wanted)
	if err != nil {
		return "", err
	}
	for i, commit := range wanted {
		if found[i] != commit {
			return commit, nil
		}
	}
	return "", nil
}

// commitsOf are the commits of the branches of a record.
func commitsOf(r *store.Repository) (out []string) {
	for _, b := range r.Branches {
		out = append(out, b.Commit)
	}
	return out
}

// away is the error of a copy that cannot be fetched. Pages show what is indexed then.
func (c *copies) away(ctx context.Context, r *store.Repository, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, git.ErrBusy):
		return err
	}
	return fmt.Errorf("%w: the mirror of %q is not on this node, or is older than what is indexed: %w", git.ErrNotRepository, r.Name, err)
}

// hasBranches reports whether the repository in dir has the branches, as far as that
// can be told without a process.
func hasBranches(dir string, branches []store.Branch) bool {
	h, ok := git.ReadHeads(dir, true)
	if !ok {
		return false
	}
	for i, b := range branches {
		commit := h.Branches[headsPrefix+b.Name]
		if i == 0 {
			commit = h.Default.Commit
		}
		if commit != b.Commit || i == 0 && h.Default.Name != b.Name {
			return false
		}
	}
	return true
}

// setBranches has a copy have the branches of a record.
func (c *copies) setBranches(ctx context.Context, repo *git.Repo, r *store.Repository) error {
	if len(r.Branches) == 0 || hasBranches(c.store.GitDirs().Dir(r), r.Branches) {
		return nil
	}
	var branches []git.Branch
	for _, b := range r.Branches {
		branches = append(branches, git.Branch{Name: b.Name, Commit: b.Commit})
	}
	return repo.SetBranches(ctx, branches)
}

// remove removes the copy of a repository that is no more.
func (c *copies) remove(r *store.Repository) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, r.ID)
	if c.over {
		return
	}
	c.running.Go(func() {
		leave, err := c.holds.take(c.ctx, r.ID, func(error) {}, func(other *hold) { other.end(errRemoved) })
		if err != nil {
			return // it is swept when the store is opened next
		}
		defer leave()
		_ = os.RemoveAll(c.store.GitDirs().Dir(r)) // or swept then
	})
}
