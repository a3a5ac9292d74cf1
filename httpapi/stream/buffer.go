package stream

import (
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
)

// buffer holds encoded matches between the sink of a search, which puts them in, and
// the sender of its stream, which takes them out. Its size is bounded: a search
// that finds faster than its client reads waits.
//
// Matches are collected into one open event. It is sealed, and the sender
// woken, as soon as it is large enough, and after the first batch of the
// search; otherwise the sender seals it when its tick comes.
type buffer struct {
	events *eventPool
	// eventSealed signals the sender that an event is sealed, eventFreed the sink that
	// one was written. Both hold one signal, so that none is missed.
	eventSealed, eventFreed chan struct{}

	mu        sync.Mutex // guards all below
	allowance allowance
	open      []byte   // the frame and the matches so far, empty for none
	sealed    [][]byte // events, the oldest first
	held      int      // bytes sealed, open and being written
	most      int      // the largest that held was
	idle      bool     // whether the search has yielded
	hasFirst  bool     // whether the first batch has been put in
}

// newBuffer returns a buffer of at most limit bytes, of which those beyond leastBuffer
// are taken from shared.
func newBuffer(limit int, shared *semaphore.Weighted, events *eventPool) *buffer {
	return &buffer{allowance: allowance{limit: limit, shared: shared}, events: events, eventSealed: make(chan struct{}, 1), eventFreed: make(chan struct{}, 1)}
}

// encode puts m in, where it stays: a hundred thousand matches are not copied
// from a buffer of their own. If there is no memory for m, or it is too large for one
// event, the buffer is as before and left is its JSON, in the memory of scratch.
func (b *buffer) encode(e *event.Encoder, m query.Match, scratch []byte) (left []byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, empty := len(b.open), len(b.open) == 0
	b.separate(0)
	start := len(b.open)
	b.open = e.Append(b.open, m)
	size := len(b.open) - start
	if event.FitsMatch(size) && b.fits(size, before) {
		b.count(before)
		return scratch, true
	}
	scratch = append(scratch[:0], b.open[start:]...)
	b.open = b.open[:before]
	switch {
	case empty:
		b.events.put(b.open)
		b.open = nil
	case cap(b.open) > event.UsualBytes: // it grew for what did not fit
		b.open = append(make([]byte, 0, event.UsualBytes), b.open...)
	}
	return scratch, false
}

// add puts an encoded match in, if there is memory for it.
func (b *buffer) add(match []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.open)
	if !b.fits(len(match), before) {
		return false
	}
	b.separate(len(match))
	b.open = append(b.open, match...)
	b.count(before)
	return true
}

// fits reports whether a match of that size may be put in, when the open event
// has so many bytes. The lock is held, as for those below up to sealLocked.
func (b *buffer) fits(size, open int) bool {
	return b.allowance.reserve(b.held+size+event.MatchesFrameBytes) || b.held <= open
}

// separate readies the open event for another match, which takes about so many
// bytes.
func (b *buffer) separate(size int) {
	if len(b.open) > 0 {
		b.open = append(b.open, ',')
		return
	}
	b.open = event.BeginMatches(slices.Grow(b.events.get(), event.FullBytes+event.MatchesFrameBytes+size))
}

// count counts what was put in since the open event had so many bytes.
func (b *buffer) count(before int) {
	b.held += len(b.open) - before
	if event.IsFull(b.open) {
		b.sealLocked()
	}
	b.most = max(b.most, b.held)
}

// sealLocked seals the open event, if there is one. The lock is held.
func (b *buffer) sealLocked() {
	before := len(b.open)
	if before == 0 {
		return
	}
	sealed := event.EndMatches(b.open)
	b.held += len(sealed) - before
	b.sealed, b.open = append(b.sealed, sealed), nil
	signal(b.eventSealed)
}

// sealFirstBatch seals what the first batch left open.
func (b *buffer) sealFirstBatch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.hasFirst {
		b.hasFirst = true
		b.sealLocked()
	}
}

// seal makes what is in the open event ready to be taken.
func (b *buffer) seal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealLocked()
}

// take returns the oldest sealed event, or nil. Its bytes count as held until
// it is freed.
func (b *buffer) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sealed) == 0 {
		return nil
	}
	text := b.sealed[0]
	// The array outlives what was taken out of it, by minutes if the client is slow.
	b.sealed[0] = nil
	b.sealed = b.sealed[1:]
	return text
}

// free takes back an event that was taken and has been written.
func (b *buffer) free(text []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= len(text)
	if b.idle {
		b.allowance.shrink(b.held)
	}
	b.events.put(text)
	signal(b.eventFreed)
}

// setIdle has the buffer keep no more memory than it holds, or as much as it likes
// of what it has taken. Once it was idle its client is known to be slow, and
// it has no use for more than the least.
func (b *buffer) setIdle(idle bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle = idle; !idle {
		return
	}
	b.allowance.limit = min(b.allowance.limit, leastBuffer)
	b.sealLocked()
	for i, text := range b.sealed {
		b.sealed[i] = slices.Clone(text)
	}
	b.allowance.shrink(b.held)
}

// isLow reports whether little is held of what may be.
func (b *buffer) isLow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held <= min(b.allowance.limit, leastBuffer)/4
}

// holds reports whether so many bytes or more are held.
func (b *buffer) holds(bytes int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held >= bytes
}

// mostHeld returns the most bytes that were held at one time.
func (b *buffer) mostHeld() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most
}

// close gives back what was taken of the shared bytes. Nothing is put in or taken out any
// more.
func (b *buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowance.shrink(0)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
