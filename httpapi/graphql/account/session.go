package account

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/graphql/budget"
	"github.com/trawlsearch/trawl/httpapi/graphql/cost"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Session is what the resolvers of one request need of the server beside git. It
// is safe for concurrent use.
type Session struct {
	*budget.Budget
	Store    *store.Store
	Registry *identity.Registry
	Book     *saved.Book
	// Repositories changes what is mirrored and known, Services asks the external
	// services of Book.
	Repositories manage.Repositories
	Services     manage.ServiceHosts
	// Site is the configuration of the server.
	Site manage.Site
	// Notice says why nothing is indexed for now; nil is never.
	Notice func() string
	Now    func() time.Time
	// Actor is who asks, Limits are those of the document, Base is how the client
	// reaches the server.
	Actor  *auth.Actor
	Limits cost.Limits
	Base   string
	// people belongs to the resolver that runs.
	people people

	mu sync.Mutex // guards snapshots
	// snapshots are those that were taken; the last is the present one.
	snapshots []*store.Snapshot
}

type sessionKey struct{}

// With returns a context in which Of finds the session.
func With(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// Of returns the session of a request.
func Of(ctx context.Context) *Session { return ctx.Value(sessionKey{}).(*Session) }

// Root has the fields of the types Query and Mutation that are about accounts.
type Root struct{}

// Forget lets the resolvers that follow read all users again.
func (s *Session) Forget() { s.people = people{} }

// Snapshot returns the present snapshot.
func (s *Session) Snapshot() *store.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshots[len(s.snapshots)-1]
}

// Renew lets the resolvers that follow see what a mutation changed.
func (s *Session) Renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshots = append(s.snapshots, s.Store.Snapshot())
}

// Close releases the snapshots.
func (s *Session) Close(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sn := range s.snapshots {
		if err := sn.Close(); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("close snapshot")
		}
	}
}

// VisibleRepositories returns those that may be seen, in listing order.
func (s *Session) VisibleRepositories() []*store.Repository {
	return slices.DeleteFunc(s.Snapshot().Repositories(), func(r *store.Repository) bool { return !s.Actor.CanSee(r) })
}

// ByName returns the repository of that name, or nil if there is none or it may
// not be seen.
func (s *Session) ByName(name string) *store.Repository {
	r, err := s.Snapshot().Repository(name)
	if err != nil {
		return nil
	}
	return s.visible(r)
}

// ByID is like byName.
func (s *Session) ByID(id uint32) *store.Repository {
	return s.visible(s.Snapshot().RepositoryByID(id))
}

func (s *Session) visible(r *store.Repository) *store.Repository {
	if r == nil || !s.Actor.CanSee(r) {
		return nil
	}
	return r
}
