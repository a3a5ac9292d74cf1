package migrations

import (
	"context"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Step leads from one format version to the one behind it.
type Step struct {
	From store.FormatVersion
	// About says in a few words what changes, for people.
	About string
	// Run changes the store. It may be interrupted anywhere and run again.
	Run func(ctx context.Context, s *store.Store) error
}

// steps are in order of From, one for each version but the newest.
var steps = []Step{}

// Path returns the steps from a version to the newest, in order. It fails for
// a version that never was or is newer than this program.
func Path(from store.FormatVersion) ([]Step, error) {
	if from < store.FormatBlocks || from > store.FormatNewest {
		return nil, fmt.Errorf("no way from format version %d: this program knows %d to %d", from, store.FormatBlocks, store.FormatNewest)
	}
	return steps[from-store.FormatBlocks:], nil
}
