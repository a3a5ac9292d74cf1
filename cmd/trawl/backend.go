package main

import (
	"context"
	"sync/atomic"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/hooks"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/spool"
)

// backend is the service behind a server. The server listens at once; the service
// takes a while to open.
type backend struct {
	service atomic.Pointer[service.Service]
	// begun is set once the first sources were tried.
	begun atomic.Bool
}

func (b *backend) open(s *service.Service) { b.service.Store(s) }
func (b *backend) ready()                  { b.begun.Store(true) }

// part returns a part of the service, nothing until the service is open.
func part[T any](b *backend, of func(*service.Service) T) (closed T) {
	if s := b.service.Load(); s != nil {
		return of(s)
	}
	return closed
}

// opening says what searches wait for.
func (b *backend) opening() string {
	if b.service.Load() == nil {
		return "data directory"
	}
	return ""
}

// current reports whether the service may show what it has: a node of a cluster may not
// while it may be behind. What is not open shows nothing.
func (b *backend) current() bool {
	s := b.service.Load()
	return s == nil || s.Current()
}

// nodes is how many nodes serve the same clients.
func (b *backend) nodes() int {
	if s := b.service.Load(); s != nil {
		return s.Nodes()
	}
	return 1
}

// waiting says why /readyz does not report ready yet.
func (b *backend) waiting() string {
	if what := b.opening(); what != "" || b.begun.Load() {
		return what
	}
	return "the first repositories"
}

// notice says what is wrong although searches run.
func (b *backend) notice() string {
	return part(b, func(s *service.Service) string { return s.Disk().Notice() })
}

// Search is called only once opening says nothing.
func (b *backend) Search(ctx context.Context, q *query.Query, o search.Options, sink answer.Sink) search.Outcome {
	return b.service.Load().Search(ctx, q, o, sink)
}

// registry returns nil until the service is open.
func (b *backend) registry() *identity.Registry { return part(b, (*service.Service).Registry) }

// apps is nil until the service is open.
func (b *backend) apps() *oauth.Book { return part(b, (*service.Service).Apps) }

// kept is nil until the service is open.
func (b *backend) kept() *manage.Kept { return part(b, (*service.Service).Kept) }

// hooks is nil until the service is open.
func (b *backend) hooks() hooks.Receiver {
	return part(b, func(s *service.Service) hooks.Receiver { return s.Hosts() })
}

// graphql is nil until the service is open.
func (b *backend) graphql() *graphql.Data { return part(b, (*service.Service).GraphQL) }

// git is nil until the service is open.
func (b *backend) git() *git.Budget { return part(b, (*service.Service).Git) }

// spool is called only once store returns one.
func (b *backend) spool() *spool.Space { return b.service.Load().Spool() }

// store is nil until the service is open.
func (b *backend) store() *store.Store {
	return part(b, func(s *service.Service) *store.Store { return s.GraphQL().Store })
}

// syncing is nil until the service is open.
func (b *backend) syncing() []manage.Syncing {
	return part(b, func(s *service.Service) []manage.Syncing { return s.Repositories().Syncing() })
}

// hosts is nil until the service is open.
func (b *backend) hosts() manage.ServiceHosts {
	return part(b, func(s *service.Service) manage.ServiceHosts { return s.Hosts() })
}

// refresh is called only once store returns one.
func (b *backend) refresh(name string) { b.service.Load().Repositories().Refresh(name) }

// backups is nil until the service is open.
func (b *backend) backups() admin.Backups {
	return part(b, func(s *service.Service) admin.Backups { return s.Backups() })
}

// planned is backups for the pages of the settings.
func (b *backend) planned() manage.Backups {
	return part(b, func(s *service.Service) manage.Backups { return s.Backups() })
}

// lend is called only once opening says nothing.
func (b *backend) lend(bytes int64) func() { return b.service.Load().Lend(bytes) }

func (b *backend) repositories() admin.Repositories {
	return part(b, func(s *service.Service) admin.Repositories { return s.Repositories() })
}

// checker is nil until the service is open.
func (b *backend) checker() admin.Checker {
	return part(b, func(s *service.Service) admin.Checker { return s.Checker() })
}

// syncable is repositories for the pages of the settings.
func (b *backend) syncable() manage.Repositories {
	return part(b, func(s *service.Service) manage.Repositories { return s.Repositories() })
}
