package main

import (
	"context"
	"sync/atomic"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql"
	"github.com/trawlsearch/trawl/httpapi/settings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/oauth"
	"github.com/trawlsearch/trawl/store/spool"
)

// door stands between a server, which listens at once, and the service, which
// takes a while to open.
type door struct {
	service atomic.Pointer[service.Service]
	// begun is set once the first sources were tried.
	begun atomic.Bool
}

func (d *door) open(s *service.Service) { d.service.Store(s) }
func (d *door) ready()                  { d.begun.Store(true) }

// opening says what searches wait for.
func (d *door) opening() string {
	if d.service.Load() == nil {
		return "data directory"
	}
	return ""
}

// waiting says what whoever asks /readyz waits for.
func (d *door) waiting() string {
	if what := d.opening(); what != "" || d.begun.Load() {
		return what
	}
	return "the first repositories"
}

// notice says what is wrong although searches run.
func (d *door) notice() string {
	if s := d.service.Load(); s != nil {
		return s.Notice()
	}
	return ""
}

// Search is called only once opening says nothing.
func (d *door) Search(ctx context.Context, q *query.Query, o search.Options, sink search.Sink) search.Outcome {
	return d.service.Load().Search(ctx, q, o, sink)
}

// registry returns nil until the service is open.
func (d *door) registry() *identity.Registry {
	if s := d.service.Load(); s != nil {
		return s.Registry()
	}
	return nil
}

// apps is nil until the service is open.
func (d *door) apps() *oauth.Book {
	if s := d.service.Load(); s != nil {
		return s.Apps()
	}
	return nil
}

// graphql is nil until the service is open.
func (d *door) graphql() *graphql.Data {
	if s := d.service.Load(); s != nil {
		return s.GraphQL()
	}
	return nil
}

// git is nil until the service is open.
func (d *door) git() *git.Budget {
	if s := d.service.Load(); s != nil {
		return s.Git()
	}
	return nil
}

// spool is called only once store returns one.
func (d *door) spool() *spool.Space { return d.service.Load().Spool() }

// store is nil until the service is open.
func (d *door) store() *store.Store {
	if s := d.service.Load(); s != nil {
		return s.GraphQL().Store
	}
	return nil
}

// refresh is called only once store returns one.
func (d *door) refresh(name string) { d.service.Load().Refresh(name) }

// backups is nil until the service is open.
func (d *door) backups() httpapi.Backups {
	if s := d.service.Load(); s != nil {
		return s
	}
	return nil
}

// lend is called only once opening says nothing.
func (d *door) lend(bytes int64) func() { return d.service.Load().Lend(bytes) }

func (d *door) repositories() httpapi.Repositories {
	if s := d.service.Load(); s != nil {
		return s
	}
	return nil
}

// checker is nil until the service is open.
func (d *door) checker() httpapi.Checker {
	if s := d.service.Load(); s != nil {
		return s
	}
	return nil
}

// syncable is repositories for the pages of the settings.
func (d *door) syncable() settings.Repositories {
	if s := d.service.Load(); s != nil {
		return s
	}
	return nil
}
