package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/loopback"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/mcp"
	"github.com/trawlsearch/trawl/store"
)

// session is how a command reaches a data directory. Both ways speak HTTP: to
// the server that has it open, or to the same handler in this process.
type session struct {
	*remote.Client
	// local is nil when a server is asked.
	local *service.Service
	// public is the URL by which people reach the server, running or not.
	public string
	close  func() error
}

// localBase is the URL of the handler in this process.
const localBase = "http://trawl"

// lockedFor is how long to wait for another command to leave the directory.
const lockedFor = 2 * time.Second

// openSession opens the data directory, or finds the server that has.
func openSession(ctx context.Context, set config.Settings, o service.Options) (*session, error) {
	service.LimitMemory(int64(set.Memory))
	if set.Authority != "" {
		// A server that has the directory is asked before the database is.
		if s, err := serverSession(ctx, set.Data); err == nil {
			s.public = cmp.Or(set.ExternalURL, s.public)
			return s, nil
		}
	}
	deadline := time.Now().Add(lockedFor)
	for {
		svc, err := openMigrated(ctx, set, o)
		if err == nil {
			s := localSession(svc, set, o.Log)
			s.public = cmp.Or(set.ExternalURL, "http://"+serverfile.LocalAddress(set.Listen))
			return s, nil
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, err
		}
		s, err := serverSession(ctx, set.Data)
		if err == nil {
			s.public = cmp.Or(set.ExternalURL, s.public)
		}
		if err == nil || !time.Now().Before(deadline) {
			return s, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// openMigrated brings the data directory to the newest format and opens it.
func openMigrated(ctx context.Context, set config.Settings, o service.Options) (*service.Service, error) {
	if err := service.Migrate(ctx, set, o.Log); err != nil {
		return nil, err
	}
	return service.Open(ctx, set, o)
}

// pause waits before a locked directory is tried again: the command that has it
// may end soon, or be a server that has not published its address yet.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}

func lockedError(data string) error {
	return fmt.Errorf("data directory %s is in use by another trawl command: wait until it has ended, or give another --data", data)
}

func localSession(svc *service.Service, set config.Settings, log zerolog.Logger) *session {
	// The command sees each answer; only the causes it is not shown are news.
	if log.GetLevel() > zerolog.DebugLevel {
		log = log.Level(zerolog.ErrorLevel)
	}
	token := rand.Text()
	operator := &admin.Handlers{
		Repositories: func() admin.Repositories { return svc.Repositories() }, Registry: svc.Registry, Apps: svc.Apps,
		Status: offlineStatus(svc), Backups: func() admin.Backups { return svc.Backups() },
		Checker: func() admin.Checker { return svc.Checker() },
	}
	limits := cost.NewCurrent(set.RateLimits)
	live := newLiveSettings(set, log)
	live.put = func(set *config.Settings) {
		limits.Set(set.RateLimits)
		svc.Configure(*set)
	}
	if err := live.open(svc.Configured()); err != nil {
		log.Error().Err(err).Msg("read configuration of the site, which is not in force")
	}
	api := &graphql.Endpoint{Data: svc.GraphQL, Searcher: svc, Limits: limits, Site: live, ExternalURL: set.ExternalURL}
	agents := &mcp.Endpoint{GraphQL: api, Searcher: svc, ExternalURL: set.ExternalURL, Version: buildOf().version}
	gate := &auth.Gate{OperatorToken: token, Registry: svc.Registry}
	server := &httpapi.Server{Searcher: svc, Log: log, Extra: slices.Concat(operator.Routes(), api.Routes(), agents.Routes()), Gate: gate}
	return &session{
		Client: &remote.Client{
			Base: localBase, Token: token,
			HTTP: &http.Client{Transport: &loopback.Transport{Handler: server.Handler()}},
		},
		local: svc,
		close: svc.Close,
	}
}

// serverSession finds the server that has the data directory open.
func serverSession(ctx context.Context, data string) (*session, error) {
	f, err := serverfile.Read(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lockedError(data)
	}
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{}
	s := &session{
		Client: &remote.Client{Base: f.URL(), Token: f.Token, HTTP: &http.Client{Transport: transport}},
		public: f.PublicURL(),
		close: func() error {
			transport.CloseIdleConnections()
			return nil
		},
	}
	if err := s.alive(ctx); err != nil {
		_ = s.close() // it never fails
		return nil, fmt.Errorf("data directory %s is in use by process %d, which does not answer at %s: %w", data, f.PID, f.URL(), err)
	}
	return s, nil
}

// alive asks the server whether it is one.
func (s *session) alive(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answered %s", resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}
