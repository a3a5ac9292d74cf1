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
	// Count returns how many records Run would change.
	Count func(old *store.Old) (int, error)
	// Run changes the store, in batches that are on disk when done counts their
	// records. It may be interrupted anywhere and run again, and leaves the
	// version as it is.
	Run func(ctx context.Context, old *store.Old, done func(records int)) error
}

// steps are in order of From, one for each version but the newest.
var steps = []Step{numberShards}

// Path returns the steps from a version to the newest, in order. It fails for
// a version that never was or is newer than this program.
func Path(from store.FormatVersion) ([]Step, error) {
	if from < store.FormatBlocks || from > store.FormatNewest {
		return nil, fmt.Errorf("no way from format version %d: this program knows %d to %d", from, store.FormatBlocks, store.FormatNewest)
	}
	return steps[from-store.FormatBlocks:], nil
}
