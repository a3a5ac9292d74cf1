package ingest

import (
	"context"
	"fmt"
	"sync"

	"github.com/trawlsearch/trawl/store"
)

// holds let one task at a time, such as a sync, a removal or a verification, have a
// repository and its mirror. Those of different repositories are taken side by side. A hold is taken
// before changes.mu, never while that is held.
type holds struct {
	mu sync.Mutex // guards byID
	// byID are the repositories that are held.
	byID map[uint32]*hold
}

// count returns how many repositories are held.
func (h *holds) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.byID)
}

// hold is a repository that one task has to itself.
type hold struct {
	// end makes the task that has it give it up for a reason.
	end context.CancelCauseFunc
	// free is closed when it has.
	free chan struct{}
}

// errRemoved is why the sync of a repository that is removed ends.
var errRemoved = fmt.Errorf("repository is being removed: %w", store.ErrNotFound)

// try takes a repository, or returns the hold of the task that has it.
func (h *holds) try(id uint32, end context.CancelCauseFunc) (*hold, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.byID[id]; other != nil {
		return other, nil
	}
	if h.byID == nil {
		h.byID = map[uint32]*hold{}
	}
	mine := &hold{end, make(chan struct{})}
	h.byID[id] = mine
	return nil, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.byID, id)
		close(mine.free)
	}
}

// take waits until no other task has a repository. met is called with each that
// has. end may be called until the repository is left.
func (h *holds) take(ctx context.Context, id uint32, end context.CancelCauseFunc, met func(*hold)) (leave func(), err error) {
	for {
		other, leave := h.try(id, end)
		if other == nil {
			return leave, nil
		}
		met(other)
		select {
		case <-other.free:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another sync: %w", context.Cause(ctx))
		}
	}
}
