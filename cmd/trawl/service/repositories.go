package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/span"
)

// List returns all repositories by name.
func (s *Service) List(context.Context) ([]*store.Repository, error) {
	sn := s.store.Snapshot()
	all := sn.Repositories()
	return all, sn.Close()
}

// Add records a source. A path that is not known yet must hold a repository
// now; a URL is only tried when it is synced.
func (s *Service) Add(ctx context.Context, source string) (*store.Repository, error) {
	src, err := ingest.ParseSource(source)
	if err != nil {
		return nil, err
	}
	if !src.Remote && !s.knows(src.Name) && !git.LooksLikeRepository(src.Location) {
		if _, err := git.Open(ctx, src.Location); err != nil {
			return nil, err
		}
	}
	return s.indexer.Add(ctx, src)
}

// AddNamed records a source that a site admin named on a page. It is reached over
// HTTP through the proxy that guards addresses, and a path only where the setting
// allows what is on this machine.
func (s *Service) AddNamed(ctx context.Context, source string) (*store.Repository, error) {
	src, err := ingest.ParseSource(source)
	if err != nil {
		return nil, err
	}
	if s.knows(src.Name) {
		return nil, fmt.Errorf("there is a repository %q already: %w", src.Name, store.ErrExists)
	}
	if !src.Remote {
		if !s.set.AllowLocalSources {
			return nil, fmt.Errorf("%q is a path: set allow-local-sources to add paths here, or add it on the machine of the server with trawl repo add", source)
		}
		return s.Add(ctx, source)
	}
	if u, err := url.Parse(src.Location); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("addresses begin with https:// or http:// here: others are added on the machine of the server with trawl repo add")
	}
	src.Guarded, src.Named = true, true
	return s.indexer.Add(ctx, src)
}

// Declare records a source without a look at it: what stands in a
// configuration file may be there later.
func (s *Service) Declare(ctx context.Context, src ingest.Source) (*store.Repository, error) {
	return s.indexer.Add(ctx, src)
}

func (s *Service) knows(name string) bool { return s.record(name) != nil }

// record returns the record of a repository, nil if there is none.
func (s *Service) record(name string) *store.Repository {
	sn := s.store.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		return nil
	}
	return r
}

// ChangeFacts changes what is known about a repository, also while it syncs.
func (s *Service) ChangeFacts(_ context.Context, name string, c store.FactsChange) (*store.Repository, error) {
	return s.store.ChangeFacts(name, c)
}

// Remove forgets a repository.
func (s *Service) Remove(ctx context.Context, name string) error {
	return s.indexer.Remove(ctx, name)
}

// Sync brings a repository up to its source, after those that run already.
func (s *Service) Sync(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error) {
	return s.sync(ctx, name, s.indexer.Sync, report)
}

// renew is Sync with a new mirror.
func (s *Service) renew(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error) {
	return s.sync(ctx, name, s.indexer.Renew, report)
}

// wayToSync is Sync or Renew of the indexer.
type wayToSync func(ctx context.Context, name string, report func(ingest.Progress)) (ingest.Result, error)

func (s *Service) sync(ctx context.Context, name string, by wayToSync, report func(ingest.Progress)) (ingest.Result, error) {
	ctx, cancel := s.background.untilStop(ctx)
	defer cancel()
	report, ended := s.queue.begin(name, time.Now(), report)
	defer ended()
	defer s.claimFirst(ctx, name, report)()
	within, traced := span.Start(ctx, string(WorkSync), "")
	measured := s.measured(name)
	res, err := by(within, name, report)
	measured(!res.AsBefore, res.Took, err)
	traced(err)
	if !res.AsBefore {
		s.upkeep.synced()
	}
	s.background.worked(ctx, WorkSync, res.Took, res.Added+res.Removed > 0, err)
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
func (s *Service) claimFirst(ctx context.Context, name string, report func(ingest.Progress)) (release func()) {
	release = func() {}
	if !s.node.Joined() {
		return release
	}
	for {
		r := s.record(name)
		if r == nil || r.Indexed() {
			return release
		}
		claim, held, err := s.node.ClaimSync(ctx, r.ID)
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
func (s *Service) Skipped(_ context.Context, name string, each func(path, reason string, bytes int64) error) (err error) {
	sn := s.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	r, err := sn.Repository(name)
	if err != nil {
		return err
	}
	return ingest.Skipped(sn, r, func(d ingest.SkippedDocument) error { return each(d.Path, d.Reason, d.Bytes) })
}

// Refresh has a repository synced, by the node whose work it is, before any other
// that this has not begun with.
func (s *Service) Refresh(name string) { s.asked.refresh(name) }

// RunJobs runs search jobs until ctx ends.
func (s *Service) RunJobs(ctx context.Context) { s.jobs.Run(ctx) }

// RunMonitors runs monitors of saved searches until ctx ends.
func (s *Service) RunMonitors(ctx context.Context) { s.monitors.Run(ctx) }
