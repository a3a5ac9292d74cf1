package stream

import (
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/trawlsearch/trawl/httpapi/stream/event"
)

// leastBuffer is what every buffer may hold, lendBytes what it takes at once of
// the bytes that all share beyond that.
const (
	leastBuffer = 64 << 10
	lendBytes   = 32 << 10
)

// allowance is how many bytes a buffer may hold. The lock of the buffer guards it.
type allowance struct {
	limit  int
	shared *semaphore.Weighted // the bytes beyond leastBuffer of all buffers
	lent   int                 // of shared
}

// reserve reports whether the buffer may hold so many bytes, and takes what it lacks.
func (a *allowance) reserve(bytes int) bool {
	if bytes > a.limit {
		return false
	}
	for a.lent < bytes-leastBuffer {
		if !a.shared.TryAcquire(lendBytes) {
			return false
		}
		a.lent += lendBytes
	}
	return true
}

// shrink gives back what is not needed to hold so many bytes.
func (a *allowance) shrink(bytes int) {
	for a.lent > 0 && a.lent-lendBytes >= bytes-leastBuffer {
		a.shared.Release(lendBytes)
		a.lent -= lendBytes
	}
}

// eventPool keeps the memory of events, event.UsualBytes each, for other streams.
// It is safe for concurrent use.
type eventPool struct{ pool sync.Pool }

// get returns an empty slice.
func (p *eventPool) get() []byte {
	if text, ok := p.pool.Get().(*[event.UsualBytes]byte); ok {
		return text[:0]
	}
	return make([]byte, 0, event.UsualBytes)
}

// put takes a slice that nothing uses any more. It keeps only the usual size.
func (p *eventPool) put(text []byte) {
	if cap(text) == event.UsualBytes {
		p.pool.Put((*[event.UsualBytes]byte)(text[:event.UsualBytes]))
	}
}
