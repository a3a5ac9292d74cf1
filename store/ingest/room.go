package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// ErrLowDisk says that ingest stopped because the disk is nearly full.
var ErrLowDisk = errors.New("disk is nearly full")

// Room has ingest stop while some of the disk is still free.
type Room struct {
	store *store.Store
	// least is in bytes; negative is no limit.
	least int64
}

// Ready fails with ErrLowDisk when there is too little room to index, and with
// an error of the store when that cannot be written. It makes a store that is
// broken take changes again, if that can be done.
func (r *Room) Ready() error {
	if err := r.store.Mend(); err != nil {
		return err
	}
	return r.check()
}

// check fails with ErrLowDisk when less than least is free.
func (r *Room) check() error {
	if r.least < 0 {
		return nil
	}
	disk, err := r.store.Disk()
	if err != nil {
		return err
	}
	if disk.FreeBytes < uint64(r.least) {
		return fmt.Errorf("%w: %d MiB free at %s, indexing needs %d MiB; free some space or lower min-free-bytes",
			ErrLowDisk, disk.FreeBytes>>20, r.store.Dir(), r.least>>20)
	}
	return nil
}

// roomEvery is how often the disk is looked at while something is fetched.
const roomEvery = time.Second

// watch returns a context that ends with ErrLowDisk when the disk is nearly
// full: what is fetched would fill it, and searches need some of it.
func (r *Room) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.least < 0 {
		return ctx, func() { cancel(nil) }
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(roomEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := r.check(); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}
