package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/node"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/span"
)

// Repositories are those of a data directory, and the syncs of them. It is safe for
// concurrent use.
type Repositories struct {
	store *store.Store
	// indexer is made last: it signs in as the code hosts say, which add repositories
	// here.
	indexer    *ingest.Indexer
	node       *node.Node
	background *background
	// synced is called after a sync that changed something.
	synced func()
	// allowLocal says that paths of this machine may be named on a page.
	allowLocal bool

	asked  asked
	pushes pushes
	queue  queue
	logs   *syncLogs
}

var _ admin.Repositories = (*Repositories)(nil)

// List returns all repositories by name.
func (rs *Repositories) List(context.Context) ([]*store.Repository, error) {
	sn := rs.store.Snapshot()
	all := sn.Repositories()
	return all, sn.Close()
}

// Add records a source. A path that is not known yet must hold a repository
// now; a URL is only tried when it is synced.
func (rs *Repositories) Add(ctx context.Context, source string) (*store.Repository, error) {
	src, err := ingest.ParseSource(source)
	if err != nil {
		return nil, err
	}
	if !src.Remote && !rs.knows(src.Name) && !git.LooksLikeRepository(src.Location) {
		if _, err := git.Open(ctx, src.Location); err != nil {
			return nil, err
		}
	}
	return rs.indexer.Add(ctx, src)
}

// AddNamed records a source that a site admin named on a page. It is reached over
// HTTP through the proxy that guards addresses, and a path only where the setting
// allows what is on this machine.
func (rs *Repositories) AddNamed(ctx context.Context, source string) (*store.Repository, error) {
	src, err := ingest.ParseSource(source)
	if err != nil {
		return nil, err
	}
	if rs.knows(src.Name) {
		return nil, fmt.Errorf("there is a repository %q already: %w", src.Name, store.ErrExists)
	}
	if !src.Remote {
		if !rs.allowLocal {
			return nil, fmt.Errorf("%q is a path: set allow-local-sources to add paths here, or add it on the machine of the server with trawl repo add", source)
		}
		return rs.Add(ctx, source)
	}
	if u, err := url.Parse(src.Location); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("addresses begin with https:// or http:// here: others are added on the machine of the server with trawl repo add")
	}
	src.Guarded, src.Named = true, true
	return rs.indexer.Add(ctx, src)
}

// Declare records a source without a look at it: what stands in a
// configuration file may be there later.
func (rs *Repositories) Declare(ctx context.Context, src ingest.Source) (*store.Repository, error) {
	return rs.indexer.Add(ctx, src)
}

func (rs *Repositories) knows(name string) bool { return rs.record(name) != nil }

// record returns the record of a repository, nil if there is none.
func (rs *Repositories) record(name string) *store.Repository {
	sn := rs.store.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		return nil
	}
	return r
}

// ChangeFacts changes what is known about a repository, also while it syncs.
func (rs *Repositories) ChangeFacts(_ context.Context, name string, c store.FactsChange) (*store.Repository, error) {
	return rs.store.Repositories().ChangeFacts(name, c)
}

// Remove forgets a repository.
func (rs *Repositories) Remove(ctx context.Context, name string) error {
	return rs.indexer.Remove(ctx, name)
}

// Sync brings a repository up to its source, after those that run already.
func (rs *Repositories) Sync(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error) {
	return rs.sync(ctx, name, rs.indexer.Sync, report)
}

// renew is Sync with a new mirror.
func (rs *Repositories) renew(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error) {
	return rs.sync(ctx, name, rs.indexer.Renew, report)
}

// wayToSync is Sync or Renew of the indexer.
type wayToSync func(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error)

func (rs *Repositories) sync(ctx context.Context, name string, by wayToSync, report func(ingest.Progress)) (ingest.Result, error) {
	ctx, cancel := rs.background.untilStop(ctx)
	defer cancel()
	log := rs.logs.record(rs.record(name), time.Now())
	report, ended := rs.queue.begin(name, log.began, log.listen(report))
	defer ended()
	defer rs.claimFirst(ctx, name, report)()
	within, traced := span.Start(ctx, string(WorkSync), "")
	measured := rs.measured(name)
	res, err := by(within, name, report)
	measured(!res.AsBefore, res.Took, err)
	log.end(res, err, time.Now())
	traced(err)
	if !res.AsBefore {
		rs.synced()
	}
	rs.background.worked(ctx, WorkSync, res.Took, res.Added+res.Removed > 0, err)
	if err != nil && context.Cause(ctx) == errClosing {
		return res, fmt.Errorf("sync %q: %w", name, errClosing)
	}
	return res, err
}

// claimEvery is how often a node looks whether another still reads a new repository.
const claimEvery = time.Second

// claimFirst has no other node read a repository that is not indexed yet, until release
// is called, and waits for one that does already: the node that was asked to add it and
// the one whose work it is would both read all of it. Where claims cannot be made, both
// may, and the second finds nothing to do when it commits.
func (rs *Repositories) claimFirst(ctx context.Context, name string, report func(ingest.Progress)) (release func()) {
	release = func() {}
	if !rs.node.Joined() {
		return release
	}
	for {
		r := rs.record(name)
		if r == nil || r.Indexed() {
			return release
		}
		claim, held, err := rs.node.ClaimSync(ctx, r.ID)
		if err != nil {
			return release
		}
		if held {
			return claim
		}
		if report != nil {
			report(ingest.Progress{Phase: "claimed"})
		}
		select {
		case <-ctx.Done():
			return release
		case <-time.After(claimEvery):
		}
	}
}

// Skipped calls each with the documents of a repository whose content is not
// searched.
func (rs *Repositories) Skipped(_ context.Context, name string, each func(path, reason string, bytes int64) error) (err error) {
	sn := rs.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	r, err := sn.Repository(name)
	if err != nil {
		return err
	}
	return ingest.Skipped(sn, r, func(d ingest.SkippedDocument) error { return each(d.Path, d.Reason, d.Bytes) })
}

// Reindex marks a repository, whose next sync reads all of it again.
func (rs *Repositories) Reindex(name string) error {
	_, err := rs.store.Repositories().Reindex(name)
	return err
}

// Refresh has a repository synced, by the node whose work it is, before any other
// that this has not begun with.
func (rs *Repositories) Refresh(name string) { rs.asked.refresh(name) }
