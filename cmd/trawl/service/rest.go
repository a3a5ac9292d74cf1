package service

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// restAfter is how long no search or sync runs before memory is given back: at
// least so long, at most twice.
const restAfter = 20 * time.Second

// busy counts what needs memory: how much of it ever began, and how much of
// that is at work.
type busy struct{ begun, working atomic.Int64 }

// begin counts one more and returns what ends it.
func (b *busy) begin() (end func()) {
	b.begun.Add(1)
	b.working.Add(1)
	return func() { b.working.Add(-1) }
}

// keepSmall gives memory back to the system whenever nothing has been searched
// or indexed for a while, until ctx ends.
func (u *Upkeep) keepSmall(ctx context.Context) {
	tick := time.NewTicker(restAfter)
	defer tick.Stop()
	u.background.busy.keepSmall(ctx, tick.C, func() {
		u.store.Budget().Rest()
		debug.FreeOSMemory()
	})
}

// keepSmall calls rest once in each pause that lasts from one tick to another.
func (b *busy) keepSmall(ctx context.Context, tick <-chan time.Time, rest func()) {
	before, rested := b.begun.Load(), int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		now := b.begun.Load()
		if now == before && now != rested && b.working.Load() == 0 {
			rest()
			rested = now
		}
		before = now
	}
}
