package ingest

import (
	"context"
	"errors"
	"net/url"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// sources are where the git repositories of a store come from: the folders that are
// read in place, and what is mirrored. It guards what signs in at their hosts.
type sources struct {
	store *store.Store
	opts  Options
}

// open returns the git repository of r: its source, or its mirror as it is.
func (s *sources) open(ctx context.Context, r *store.Repository) (*git.Repo, error) {
	return s.opts.Git.Open(ctx, s.store.GitDirs().Dir(r))
}

// address is that of a source, with what signs in at its host. It is shown nowhere.
func (s *sources) address(r *store.Repository) string {
	if !r.Guarded || s.opts.Credentials == nil {
		return r.Source
	}
	u, err := url.Parse(r.Source)
	if err != nil || u.User != nil {
		return r.Source
	}
	if u.User = s.opts.Credentials(r); u.User == nil {
		return r.Source
	}
	return u.String()
}

// proxy returns the address of the HTTP proxy through which a guarded source has to be
// reached, "" for a source that needs none.
func (s *sources) proxy(r *store.Repository) (string, error) {
	switch {
	case !r.Guarded:
		return "", nil
	case s.opts.Proxy == nil:
		return "", errors.New("a source that was named over the API is fetched by a server only")
	}
	proxy, err := s.opts.Proxy()
	if err == nil && proxy == "" {
		err = errors.New("there is no proxy for a source that was named over the API")
	}
	return proxy, err
}

// mirror returns the mirror of a repository, which is made if there is none, or anew.
func (s *sources) mirror(ctx context.Context, r *store.Repository, anew bool, note func(string)) (*git.Mirror, error) {
	proxy, err := s.proxy(r)
	if err != nil {
		return nil, err
	}
	if anew {
		if err := s.opts.Git.Renew(ctx, proxy, s.address(r), s.store.GitDirs().Dir(r), note); err != nil {
			return nil, err
		}
	}
	return s.opts.Git.Mirror(ctx, proxy, s.address(r), s.store.GitDirs().Dir(r), note)
}

// unchanged reports whether the source of a repository is as it was indexed, as
// far as that can be told without Open and Fetch. It may be if it reports false.
// An error is that of a remote.
func (s *sources) unchanged(ctx context.Context, r *store.Repository) (bool, error) {
	dir := s.store.GitDirs().Dir(r)
	if !headsAsIndexed(dir, r) {
		return false, nil
	}
	if !r.Mirror {
		return true, nil
	}
	proxy, err := s.proxy(r)
	if err != nil {
		return false, err
	}
	return s.opts.Git.Unmoved(ctx, proxy, s.address(r), dir)
}
