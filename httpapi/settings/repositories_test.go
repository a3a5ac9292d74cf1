package settings_test

import (
	"context"

	"github.com/trawlsearch/trawl/store"
)

// repositories are those of a test, and what was asked of them.
type repositories struct {
	all       []*store.Repository
	refreshed []string
}

func (r *repositories) List(context.Context) ([]*store.Repository, error) { return r.all, nil }
func (r *repositories) Refresh(name string)                               { r.refreshed = append(r.refreshed, name) }
