package store

import (
	"context"
	"errors"

	"github.com/trawlsearch/trawl/store/shard"
)

// errAlone is that of what a store does for other nodes, if there are none.
var errAlone = errors.New("the store shares nothing with other nodes")

// SweepObjects deletes the objects of runs that no record has named for a while, and
// returns how many and how large they were. One node does it for all, every few minutes.
func (n Node) SweepObjects(ctx context.Context) (objects int, bytes int64, err error) {
	a := n.a
	if a == nil {
		return 0, 0, errAlone
	}
	of, err := a.exchange.owner()
	if err == nil {
		of.shards = true // so that nothing is swept where this cluster has stored nothing
		err = a.exchange.belong(ctx, of)
	}
	if err != nil {
		return 0, 0, err
	}
	return a.exchange.runs.Sweep(ctx, a.named)
}

// named returns the runs that the records of the last version name. A header that was
// imported with damage names none.
func (a *sharedAuthority) named(ctx context.Context) (files []shard.File, err error) {
	if err := a.catchUp(ctx); err != nil {
		return nil, err
	}
	m := a.s.committer.versions.hold()
	defer a.s.committer.versions.release(m)
	m.catalogue.byNumber.Scan(func(_ uint32, sh *shard.Shard) bool {
		files = append(files, sh.Header.Files()...)
		return true
	})
	return files, nil
}
