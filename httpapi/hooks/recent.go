package hooks

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// replayAge is for how long a body counts once. Hosts send one again within minutes,
	// if at all.
	replayAge = 10 * time.Minute
	// mostRecent is how many bodies are remembered. Beyond it the oldest are forgotten: the
	// same again has a repository synced that has not changed.
	mostRecent = 4096
)

// mark is a body that was sent for a service.
type mark struct {
	service uint32
	sum     [sha256.Size]byte
}

// recent are the bodies that came last. The zero value has none.
type recent struct {
	mu sync.Mutex // guards all below
	at map[mark]time.Time
	// order has the marks in the order in which they came, from first on.
	order []mark
}

// isNew reports whether a body did not come before, and notes it.
func (r *recent) isNew(m mark, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at = map[mark]time.Time{}
	}
	for len(r.order) > 0 && (len(r.order) >= mostRecent || now.Sub(r.at[r.order[0]]) >= replayAge) {
		delete(r.at, r.order[0])
		r.order = r.order[1:]
	}
	if _, ok := r.at[m]; ok {
		return false
	}
	r.at[m] = now
	r.order = append(r.order, m)
	return true
}
