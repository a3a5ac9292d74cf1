package documents

import (
	"context"
	"math"
	"sync"

	"github.com/trawlsearch/trawl/query"
)

// gate keeps workers from a group that a limit will hardly ask for: one behind
// enough matches that are only to be sent. A worker that comes early waits until
// all groups before its own were sent, and goes on if these were not enough after
// all. Segments are taken in order, so there is always a worker on the group that
// others wait for. It is safe for concurrent use.
type gate struct {
	mu sync.Mutex // guards all below
	// sent is how many groups were sent, by this run or an earlier one; found how many
	// matches were found and not sent, and left how many more are wanted.
	sent, found, left int
	// moved is closed when sent or left change.
	moved chan struct{}
}

// newGate returns a gate behind so many groups. When matches may become fewer on
// their way it is always open: how many would do is unknown.
func newGate(sent, left int, fewer bool) *gate {
	if fewer {
		left = math.MaxInt
	}
	return &gate{sent: sent, left: left, moved: make(chan struct{})}
}

// wait waits until it is time for a group, or ctx has ended, which is the error
// then.
func (g *gate) wait(ctx context.Context, group int) error {
	for {
		g.mu.Lock()
		// With none left the search is about to end: what was sent last opens nothing.
		open, moved := g.left > 0 && (group <= g.sent || g.found < g.left), g.moved
		g.mu.Unlock()
		if open {
			return ctx.Err()
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// wanted returns how many more matches are wanted.
func (g *gate) wanted() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left
}

// noteFound notes what was found and is to be sent.
func (g *gate) noteFound(matches []query.Match) {
	n := countMatches(matches)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.found += n
}

// noteSent notes that a group was sent, and how many more matches are wanted. n are
// what was sent.
func (g *gate) noteSent(n, left int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sent++
	g.found -= n
	if g.left != math.MaxInt {
		g.left = left
	}
	close(g.moved)
	g.moved = make(chan struct{})
}

func countMatches(matches []query.Match) (n int) {
	for _, m := range matches {
		n += m.Count()
	}
	return n
}
