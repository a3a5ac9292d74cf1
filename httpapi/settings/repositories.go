package settings

import (
	"context"

	"github.com/trawlsearch/trawl/store"
)

// Repositories is what the page about repositories shows and does.
type Repositories interface {
	List(ctx context.Context) ([]*store.Repository, error)
	// Refresh has a repository synced soon.
	Refresh(name string)
}
