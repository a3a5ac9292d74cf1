package shardplan

import (
	"context"

	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
)

// Source calls each with the plans of a source for some queries, until each returns
// false or planning fails, which is recorded.
func Source(ctx context.Context, t *task.Task, src target.Source, in *Reader, queries []*target.Query, each func(*Plan) bool) error {
	if src.Unindexed != nil {
		return readUnindexed(ctx, t, src.Unindexed, queries, each)
	}
	p, err := New(ctx, src.View, in, nil, queries, t.PlanBytes, t.WithoutLists(src.View.ID))
	if err != nil {
		if ctx.Err() == nil {
			t.FailShard(src.View.ID, err)
		}
		return err
	}
	each(p)
	return nil
}
