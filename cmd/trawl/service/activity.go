package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
)

// activity counts what is at work and tells when nothing is.
type activity struct {
	mu    sync.Mutex // guards what follows
	count int
	// idle is closed when count falls to 0; nil while it is 0.
	idle chan struct{}
}

// begin counts one more until end is called.
func (a *activity) begin() (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count++; a.count == 1 {
		a.idle = make(chan struct{})
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.count--; a.count == 0 {
			close(a.idle)
			a.idle = nil
		}
	}
}

// wait waits until nothing is at work.
func (a *activity) wait(ctx context.Context) error {
	a.mu.Lock()
	idle := a.idle
	a.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for syncs: %w", context.Cause(ctx))
	}
}

// idleWithin is how long background work waits for small syncs to pause, which they
// may never do.
const idleWithin = time.Minute

// turns has one large repository indexed at a time, and small ones beside it.
type turns struct {
	// large holds a token while a large repository is indexed, so that waiting tasks
	// can give up. Mirrors are fetched before. small counts the others.
	large chan struct{}
	small activity
	busy  *busy
}

// begin is the Begin of ingest.
func (t *turns) begin() (end func()) {
	quiet, idle := t.busy.begin(), t.small.begin()
	return func() {
		idle()
		quiet()
	}
}

// enter is the Turn of ingest.
func (t *turns) enter(ctx context.Context, report func(ingest.Progress)) (end func(), err error) {
	if err := t.take(ctx, report); err != nil {
		return nil, err
	}
	quiet := t.busy.begin()
	return func() {
		quiet()
		<-t.large
	}, nil
}

// take waits until no other repository is indexed, and calls report while
// it waits.
func (t *turns) take(ctx context.Context, report func(ingest.Progress)) error {
	select {
	case t.large <- struct{}{}:
		return nil
	default:
	}
	report(ingest.Progress{Phase: "wait"})
	select {
	case t.large <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for another sync: %w", context.Cause(ctx))
	}
}

// awaitIdle waits until no repository is indexed: a large one for as long as it takes,
// small ones for a while.
func (t *turns) awaitIdle(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, idleWithin)
	defer cancel()
	if err := t.small.wait(within); err != nil && ctx.Err() != nil {
		return err
	}
	if err := t.take(ctx, func(ingest.Progress) {}); err != nil {
		return err
	}
	<-t.large
	return nil
}
