package graphql

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/store"
)

// session is what the resolvers of one request share. It is safe for concurrent
// use.
type session struct {
	*Endpoint
	*Data
	// actor is who asks.
	actor *auth.Actor
	// limits are those of this document.
	limits cost.Limits
	// base is how the client reaches the server.
	base string
	*budget.Budget
	// people belongs to the resolver that runs.
	people people
	// ended reports whether the credential of the request has.
	ended func() bool
	// trace is that of the request.
	trace *httpapi.RequestTrace
	// changing says that a mutation has begun.
	changing atomic.Bool

	mu sync.Mutex // guards all below
	// snapshots are those that were taken; the last is the present one.
	snapshots []*store.Snapshot
	trees     map[uint32]*code.Reader
	// recent are the readers that may have a process, the last used last.
	recent    []*code.Reader
	documents map[*store.Repository]*documents
}

type sessionKey struct{}

func newSession(e *Endpoint, data *Data, actor *auth.Actor, base string, admitted *httpapi.Work) *session {
	s := &session{
		Endpoint: e, Data: data, actor: actor, limits: e.Limits.Load(), base: base, snapshots: []*store.Snapshot{data.Store.Snapshot()},
		trees: map[uint32]*code.Reader{}, documents: map[*store.Repository]*documents{},
	}
	s.Budget = budget.New(admitted, s.limits.Fields, e.MaxCalls)
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
	s.people = people{}
	if s.changing.Store(true); s.ended() {
		s.Stop(auth.ErrEnded)
	}
}

func withSession(ctx context.Context, s *session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// sessionOf returns the session of a request.
func sessionOf(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// close releases everything.
func (s *session) close(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.trees {
		t.Close()
	}
	for _, sn := range s.snapshots {
		if err := sn.Close(); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("close snapshot")
		}
	}
}

// snapshot returns the present snapshot.
func (s *session) snapshot() *store.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshots[len(s.snapshots)-1]
}

// renew lets the resolvers that follow see what a mutation changed.
func (s *session) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshots = append(s.snapshots, s.Store.Snapshot())
}

// maxReaders is how many repositories one answer reads at the same time: each
// has a git process. The others open again when they are read.
const maxReaders = 4

// git returns the git side of a repository. What is wrong with it is told by
// whatever is read.
func (s *session) git(r *store.Repository) *code.Reader {
	t, idle := s.reader(r)
	if idle != nil {
		idle.Close()
		s.Give(budget.ReaderBytes)
	}
	return t
}

// reader returns the reader of a repository, and one that was not used for
// longest if there are too many with a process.
func (s *session) reader(r *store.Repository) (t, idle *code.Reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.trees[r.ID]; t == nil {
		_ = s.Hold(budget.ReaderBytes) // which ends the answer
		t = code.NewReader(s.Git, s.Store.GitDir(r))
		s.trees[r.ID] = t
	}
	s.recent = append(slices.DeleteFunc(s.recent, func(other *code.Reader) bool { return other == t }), t)
	if len(s.recent) > maxReaders {
		idle, s.recent = s.recent[0], s.recent[1:]
		// What it has read goes with it.
		maps.DeleteFunc(s.trees, func(_ uint32, other *code.Reader) bool { return other == idle })
	}
	return t, idle
}

// repositories returns those that may be seen, in listing order.
func (s *session) repositories() []*store.Repository {
	return slices.DeleteFunc(s.snapshot().Repositories(), func(r *store.Repository) bool { return !s.actor.CanSee(r) })
}

// byName returns the repository of that name, or nil if there is none or it may
// not be seen.
func (s *session) byName(name string) *store.Repository {
	r, err := s.snapshot().Repository(name)
	if err != nil {
		return nil
	}
	return s.visible(r)
}

// byID is like byName.
func (s *session) byID(id uint32) *store.Repository {
	return s.visible(s.snapshot().RepositoryByID(id))
}

func (s *session) visible(r *store.Repository) *store.Repository {
	if r == nil || !s.actor.CanSee(r) {
		return nil
	}
	return r
}

// repository returns the resolver of a record.
func (s *session) repository(r *store.Repository) *repository { return &repository{s: s, rec: r} }

// repositoryNamed returns the resolver of a repository that a search named,
// or nil if it went away since.
func (s *session) repositoryNamed(name string) *repository {
	if r := s.byName(name); r != nil {
		return s.repository(r)
	}
	return nil
}
