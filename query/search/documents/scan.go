package documents

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/execute"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
)

// Scan confirms documents for b, source by source, in no order. It returns how
// many were looked at.
func Scan(ctx context.Context, t *task.Task, b *target.Query, s verify.Scan) (docs int, err error) {
	var mu sync.Mutex // guards docs
	sources := target.Sources(t, []*target.Query{b})
	execute.Share(ctx, t.Processors.Goroutines(), sources, func(share iter.Seq2[int, target.Source]) {
		v := verify.New([]*target.Query{b}, verify.Options{Brute: t.Brute})
		at := t.Processors.Slot()
		defer at.Release()
		for _, src := range share {
			if err := scanSource(ctx, t, at, v, src, b, s); err != nil && ctx.Err() == nil {
				s.Unreadable(src)
			}
		}
		if err := v.Close(); err != nil {
			v.Plan.Fail(t, err)
		}
		mu.Lock()
		defer mu.Unlock()
		docs += v.Documents
	})
	return docs, ctx.Err()
}

// scanSource confirms the documents of one source, and records what fails. A
// document that cannot be confirmed does not keep the others from it.
func scanSource(ctx context.Context, t *task.Task, at *admission.Slot, v *verify.Verifier, src target.Source, b *target.Query, s verify.Scan) error {
	wanted := func() bool {
		for key := range target.KeysIn(t.Snapshot, b.Repositories, src) {
			if !s.Done(key) {
				return true
			}
		}
		return false
	}
	if !wanted() {
		return nil
	}
	var failed error
	in := shardplan.NewReader(t, nil)
	defer in.Close()
	if src.Unindexed == nil {
		in.Slot = at
		if err := at.Acquire(ctx); err != nil {
			return err
		}
	}
	err := shardplan.Source(ctx, t, src, in, v.Queries, func(p *shardplan.Plan) bool {
		if err := v.Scan(ctx, at, p, s); err != nil {
			failed = err
			if ctx.Err() == nil {
				p.Fail(t, err)
			}
		}
		if src.Unindexed == nil {
			return true // there is one plan of a shard
		}
		at.Release() // git reads meanwhile
		return ctx.Err() == nil && wanted()
	})
	at.Release()
	return errors.Join(err, failed)
}
