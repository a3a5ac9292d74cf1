package graphql

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/graphql/gitobject"
	"github.com/trawlsearch/trawl/httpapi/graphql/jobs"
)

// session is what the resolvers of one request share. It is safe for concurrent
// use.
type session struct {
	*gitobject.Session
	searcher httpapi.Searcher
	jobs     *jobs.Runner
	// ended reports whether the credential of the request has.
	ended func() bool
	// trace is that of the request.
	trace *httpapi.RequestTrace
	// changing says that a mutation has begun.
	changing atomic.Bool
}

type sessionKey struct{}

func newSession(e *Endpoint, data *Data, actor *auth.Actor, base string, admitted *httpapi.Work) *session {
	limits := e.Limits.Load()
	s := &session{searcher: e.Searcher, jobs: data.Jobs}
	s.Session = gitobject.New(&account.Session{
		Budget: budget.New(admitted, limits.Fields, e.MaxCalls),
		Store:  data.Store, Registry: data.Registry, Book: data.Book, Repositories: data.Repositories, Services: data.Services, Site: e.Site,
		Notice: data.Notice, Now: e.Now, Actor: actor, Limits: limits, Base: base,
	}, data.Git, s.search)
	s.Renew()
	return s
}

// outlive returns a context that ends with ctx, but not when a mutation ends
// the credential that it came with: who revokes their own token is told that it
// is done. Nothing else is begun then.
func (s *session) outlive(ctx context.Context) (out context.Context, release func()) {
	out, s.Stop = context.WithCancelCause(context.WithoutCancel(ctx))
	s.ended = func() bool { return errors.Is(context.Cause(ctx), auth.ErrEnded) }
	forget := context.AfterFunc(ctx, func() {
		if !s.changing.Load() || !s.ended() {
			s.Stop(context.Cause(ctx))
		}
	})
	return out, func() {
		forget()
		s.Stop(nil)
	}
}

// begin is called for each field of a mutation, one after the other.
func (s *session) begin() {
	s.Forget()
	if s.changing.Store(true); s.ended() {
		s.Stop(auth.ErrEnded)
	}
}

func withSession(ctx context.Context, s *session) context.Context {
	return context.WithValue(account.With(ctx, s.Session.Session), sessionKey{}, s)
}

// sessionOf returns the session of a request.
func sessionOf(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// repositoryNamed returns the resolver of a repository that a search named,
// or nil if it went away since.
func (s *session) repositoryNamed(name string) *gitobject.Repository {
	if r := s.ByName(name); r != nil {
		return s.Repository(r)
	}
	return nil
}
