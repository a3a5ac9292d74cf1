package migrations

import (
	"context"

	"github.com/trawlsearch/trawl/store"
)

// batchRecords is how many records change in one batch.
const batchRecords = 1000

// numberShards leads from FormatBlocks to FormatNumbered.
var numberShards = Step{
	From:  store.FormatBlocks,
	About: "number the index of each shard",
	Count: func(old *store.Old) (int, error) {
		n, err := old.Shards()
		return n.Unnumbered, err
	},
	Run: func(ctx context.Context, old *store.Old, done func(int)) error {
		for {
			n, err := old.NumberShards(ctx, batchRecords)
			if err != nil || n == 0 {
				return err
			}
			done(n)
		}
	},
}
