package task

import (
	"context"
	"errors"

	"github.com/trawlsearch/trawl/query/search/lru"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/fair"
	"github.com/trawlsearch/trawl/store/git"
)

// Git is what all searches share of git: repositories that are open, and slots
// for its processes. It is safe for concurrent use.
type Git struct {
	store  *store.Store
	budget *git.Budget
	// opened are the repositories by directory.
	opened *lru.Cache[string, *git.Repo]
	// slots are for repositories that git lists or asks, and logs for commits with
	// their diffs, up to git.MaxCommitBytes at a time. Both are divided
	// among clients.
	slots, logs *fair.Semaphore
	// readers holds one for each reader of files beside the first of a search.
	readers chan struct{}
}

const (
	openedRepositories = 10_000
	// gitSlots is how many repositories all searches ask at once.
	gitSlots = 16
	// waitingForGit is how many of a client's requests may wait for git: more than
	// there are slots, each with as many workers.
	waitingForGit = 1 << 16
)

// NewGit returns the git of a store for searches on so many workers. budget is
// what its processes share with those that others start; nil is nothing.
func NewGit(st *store.Store, budget *git.Budget, workers int) *Git {
	return &Git{
		store: st, budget: budget, opened: lru.New[string, *git.Repo](openedRepositories),
		slots: fair.NewSemaphore(gitSlots, waitingForGit), logs: fair.NewSemaphore(wholeLogs(st, workers), waitingForGit),
		readers: make(chan struct{}, workers),
	}
}

// Open returns the git repository of repo, which is looked for once. It may wait for
// a mirror to be fetched, so no slot is held meanwhile.
func (g *Git) Open(ctx context.Context, repo *store.Repository) (*git.Repo, error) {
	dir, err := g.store.GitDirs().Ready(ctx, repo)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, errNoSource
	}
	if known, ok := g.opened.Get(dir); ok {
		return known, nil
	}
	opened, err := g.budget.Open(ctx, dir)
	if err == nil {
		g.opened.Put(dir, opened, 1)
	}
	return opened, err
}

// State changes with what revisions of repo name on this node, beside its record.
func (g *Git) State(repo *store.Repository) uint64 { return g.store.GitDirs().State(repo) }

// forget has repo looked for once more.
func (g *Git) forget(repo *store.Repository) { g.opened.Drop(g.store.GitDirs().Dir(repo)) }

func (g *Git) slot(ctx context.Context, client string) (release func(), err error) {
	return acquire(ctx, g.slots, client)
}

func (g *Git) logSlot(ctx context.Context, client string) (release func(), err error) {
	return acquire(ctx, g.logs, client)
}

func acquire(ctx context.Context, s *fair.Semaphore, client string) (release func(), err error) {
	grant, err := s.Acquire(ctx, client, 1)
	if err != nil {
		return nil, err
	}
	return grant.Release, nil
}

// Readers returns how many readers of files a search may have, up to most: one,
// and as many more as other searches leave it. The caller calls release.
func (g *Git) Readers(most int) (count int, release func()) {
	count = 1
	for count < most {
		select {
		case g.readers <- struct{}{}:
			count++
			continue
		default:
		}
		break
	}
	return count, func() {
		for range count - 1 {
			<-g.readers
		}
	}
}

// LargeText waits until a search may hold a text of so many bytes. The caller
// calls release.
func (g *Git) LargeText(ctx context.Context, bytes int64) (release func(), err error) {
	return g.store.Budget().ReserveText(bytes, ctx.Done())
}

// wholeLogs is how many logs with diffs are read at once: one for each worker and
// one that is kept for clients who read none, if so many commits of the largest
// size are no more than the texts that searches may hold. Without a store there
// are none to read.
func wholeLogs(st *store.Store, workers int) int64 {
	if st == nil {
		return 1
	}
	return min(int64(workers), max(st.Budget().TextLimit()/git.MaxCommitBytes, 1)) + 1
}

// errNoSource says that a repository has no git repository to be read from.
var errNoSource = errors.New("no source")
