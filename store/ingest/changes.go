package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// changes makes the changes of a store. It guards their order.
type changes struct {
	store *store.Store
	now   func() time.Time

	// mu lets one change at a time be made from the last version and committed. It
	// is held for that only, not while texts are read or written.
	mu sync.Mutex
	// rewriting holds a token while a task writes large shards: a sync, a merge, or
	// what is of an older index. It is taken before mu.
	rewriting chan struct{}
}

// rewrite waits until no other task writes large shards; end lets the next one.
func (c *changes) rewrite(ctx context.Context) (end func(), err error) {
	select {
	case c.rewriting <- struct{}{}:
		return func() { <-c.rewriting }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a merge: %w", context.Cause(ctx))
	}
}

// update commits what f puts into a transaction, one after the other. It makes a
// store that is broken take changes again, if that can be done.
func (c *changes) update(f func(tx *store.Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.store.Mend(); err != nil {
		return err
	}
	return c.store.Update(f)
}

// whileLast calls f with the last version. No update of this process is committed
// meanwhile.
func (c *changes) whileLast(f func(sn *store.Snapshot) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	sn := c.store.Snapshot()
	return errors.Join(f(sn), sn.Close())
}

// begin returns the snapshot from which a change is prepared. It makes a store that
// is broken take changes again, if that can be done. The version may be another when the
// change is committed: what update is given compares the two.
func (c *changes) begin() (*store.Snapshot, error) {
	if err := c.store.Mend(); err != nil {
		return nil, err
	}
	return c.store.Snapshot(), nil
}

// discard removes shards that were written for a change that failed, as far as
// that can be done: if not, they go when the store is opened next. When the
// store broke over the change they may be in use.
func (c *changes) discard(written []shard.Header, why error) {
	if len(written) == 0 || errors.Is(why, store.ErrBroken) {
		return
	}
	var drop store.Change
	for _, h := range written {
		drop.Drop = append(drop.Drop, h.ID)
	}
	_ = c.store.Commit(drop)
}

// heal runs change, and when that reads a damaged shard, quarantines the shard
// and runs it again. No change sees a quarantined shard: a sync writes its
// documents anew, a merge leaves it out, and the change that removes the last
// reference to it drops it. In a store of several nodes the shard is fetched again, which
// a change waits for; only documents that cannot be fetched are written anew.
func (c *changes) heal(ctx context.Context, change func() error) error {
	met := map[uint32]bool{}
	for {
		if err := c.store.Node().AwaitMended(ctx); err != nil {
			return err
		}
		err := change()
		shard, damaged := shard.Damaged(err)
		if !damaged || ctx.Err() != nil || met[shard] {
			return err
		}
		met[shard] = true
		// Another change may have met the same damage first.
		if _, aside := c.store.SetAside(shard, err, c.now()); aside != nil {
			return errors.Join(err, aside)
		}
	}
}

// lost reports whether one of the shards is quarantined.
func lost(sn *store.Snapshot, shards []uint32) bool {
	return slices.ContainsFunc(shards, func(id uint32) bool {
		v, ok := sn.Shard(id)
		return ok && v.Quarantine != nil
	})
}
