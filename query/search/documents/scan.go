package documents

import (
	"context"
	"errors"
	"sync"

	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
)

// Scan confirms documents for b, source by source, in no order. It returns how
// many were looked at.
func Scan(ctx context.Context, r *task.Task, b *target.Query, s verify.Scan) (docs int, err error) {
	work := make(chan target.Source)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards docs
	sources := target.Sources(r, []*target.Query{b})
	for range min(r.Processors.Goroutines(), len(sources)) {
		wg.Go(func() {
			v := verify.New([]*target.Query{b}, verify.Options{Brute: r.Brute})
			at := r.Processors.Slot()
			defer at.Release()
			for src := range work {
				if err := scanSource(ctx, r, at, v, src, b, s); err != nil && ctx.Err() == nil {
					s.Unreadable(src)
				}
			}
			if err := v.Close(); err != nil {
				v.Plan.Fail(r, err)
			}
			mu.Lock()
			docs += v.Documents
			mu.Unlock()
		})
	}
	for _, src := range sources {
		if ctx.Err() != nil {
			break
		}
		work <- src
	}
	close(work)
	wg.Wait()
	return docs, ctx.Err()
}

// scanSource confirms the documents of one source, and records what fails. A
// document that cannot be confirmed does not keep the others from it.
func scanSource(ctx context.Context, r *task.Task, at *admission.Slot, v *verify.Verifier, src target.Source, b *target.Query, s verify.Scan) error {
	wanted := func() bool {
		for key := range target.KeysIn(r.Snapshot, b.Repositories, src) {
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
	in := shardplan.NewReader(r, nil)
	defer in.Close()
	if src.Unindexed == nil {
		in.Slot = at
		if err := at.Acquire(ctx); err != nil {
			return err
		}
	}
	err := shardplan.Source(ctx, r, src, in, v.Queries, func(p *shardplan.Plan) bool {
		if err := v.Scan(ctx, at, p, s); err != nil {
			failed = err
			if ctx.Err() == nil {
				p.Fail(r, err)
			}
		}
		if src.Unindexed != nil {
			at.Release() // git reads meanwhile
		}
		return ctx.Err() == nil && wanted()
	})
	at.Release()
	return errors.Join(err, failed)
}
