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

// awaitIdle waits until no repository is indexed: a large one for as long as it takes,
// small ones for a while.
func (s *Service) awaitIdle(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, idleWithin)
	defer cancel()
	if err := s.indexing.wait(within); err != nil && ctx.Err() != nil {
		return err
	}
	if err := s.takeTurn(ctx, func(ingest.Progress) {}); err != nil {
		return err
	}
	<-s.turn
	return nil
}
