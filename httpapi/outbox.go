package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query"
)

// sealBytes is the size of the JSON from which a matches event is sent without
// waiting.
const sealBytes = 32768

// smallBytes is the room for matches that an outbox begins with.
const smallBytes = 4 << 10

// maxSpares is how many events' memory is kept for others.
const maxSpares = 8

// outbox holds encoded matches between a search, which puts them in, and the
// writer of its stream, which takes them out. Its size is bounded: a search
// that finds faster than its client reads waits.
//
// Matches are collected into one open event. It is sealed, and the writer
// woken, as soon as it is large enough, and after the first batch of the
// search; otherwise the writer takes it when its tick comes.
type outbox struct {
	encoder matchEncoder // used by the searching goroutine only
	limit   int          // most bytes held
	scratch []byte       // likewise: one encoded match

	// wake tells the writer that an event is sealed, room the search that one
	// was written. Both hold one signal, so that none is missed.
	wake, room chan struct{}

	mu     sync.Mutex // guards all below
	sealed [][]byte   // whole events
	open   []byte     // an event as beginMatches leaves it, with the matches so far
	spares [][]byte   // memory of written events, for those to come
	held   int        // bytes sealed, open and being written
	most   int        // the largest that held was
	began  bool       // whether the first batch has been put in
}

func newOutbox(e matchEncoder, limit int) *outbox {
	return &outbox{encoder: e, limit: limit, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put encodes a batch. It waits while the outbox is full and returns early
// when ctx is done.
func (o *outbox) put(ctx context.Context, matches []query.Match) error {
	for _, m := range matches {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.encode(m) {
			continue
		}
		if fitsMatch(len(o.scratch)) {
			if err := o.add(ctx, o.scratch); err != nil {
				return err
			}
			continue
		}
		if err := o.putDivided(ctx, m); err != nil {
			return err
		}
	}
	if len(matches) > 0 {
		o.begin()
	}
	return nil
}

// encode puts m in, where it stays: a hundred thousand matches are not copied
// from a buffer of their own. When there is no room for m, it is left in scratch.
func (o *outbox) encode(m query.Match) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, empty := len(o.open), len(o.open) == 0
	o.comma(0)
	start := len(o.open)
	o.open = o.encoder.append(o.open, m)
	size := len(o.open) - start
	if fitsMatch(size) && o.fits(size, before) {
		o.added(before)
		return true
	}
	o.scratch = append(o.scratch[:0], o.open[start:]...)
	o.open = o.open[:before]
	if empty {
		o.recycle(o.open)
		o.open = nil
	}
	return false
}

func (o *outbox) putDivided(ctx context.Context, m query.Match) error {
	for _, part := range divide(m) {
		o.scratch = o.encoder.appendPart(o.scratch[:0], part)
		if err := o.add(ctx, o.scratch); err != nil {
			return err
		}
	}
	o.scratch = nil // it grew beyond what a usual match needs
	return nil
}

// fitsMatch reports whether an encoded match fits an event in which others
// may precede it.
func fitsMatch(n int) bool { return fitsEvent("matches", sealBytes+n+2) }

// add puts one encoded match in. A match larger than the limit is let in when
// nothing but an unsealed event is held.
func (o *outbox) add(ctx context.Context, match []byte) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.tryAdd(match) {
			return nil
		}
		select {
		case <-o.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *outbox) tryAdd(match []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.open)
	if !o.fits(len(match), before) {
		return false
	}
	o.comma(len(match))
	o.open = append(o.open, match...)
	o.added(before)
	return true
}

// fits reports whether a match of that size may be put in, when the open event
// has so many bytes. The lock is held, as for the three below.
func (o *outbox) fits(size, open int) bool {
	return o.held+size+matchesFrameBytes <= o.limit || o.held <= open
}

// comma readies the open event for another match, which takes about so many
// bytes.
func (o *outbox) comma(size int) {
	if len(o.open) > 0 {
		o.open = append(o.open, ',')
		return
	}
	if n := len(o.spares); n > 0 {
		o.open, o.spares = o.spares[n-1], o.spares[:n-1]
	}
	room := sealBytes + max(size, sealBytes/4)
	if !o.began {
		room = max(size, smallBytes) // the first event of most answers is their only one
	}
	o.open = beginMatches(slices.Grow(o.open[:0], room+matchesFrameBytes))
}

// added counts what was put in since the open event had so many bytes.
func (o *outbox) added(before int) {
	o.held += len(o.open) - before
	if len(o.open)-len(matchesFrame)+len("[") >= sealBytes {
		o.seal()
	}
	o.most = max(o.most, o.held)
}

// seal closes the open event. The event is not empty.
func (o *outbox) seal() {
	before := len(o.open)
	event := endMatches(o.open)
	o.held += len(event) - before
	o.sealed, o.open = append(o.sealed, event), nil
	signal(o.wake)
}

// recycle keeps the memory of an event for others, unless a huge match made it
// large or there is plenty.
func (o *outbox) recycle(event []byte) {
	if cap(event) <= 4*sealBytes && len(o.spares) < maxSpares {
		o.spares = append(o.spares, event[:0])
	}
}

// begin seals what the first batch left open.
func (o *outbox) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began {
		return
	}
	o.began = true
	if len(o.open) > 0 {
		o.seal()
	}
}

// take returns the oldest sealed event, or nil. Its bytes count as held until
// they are reported as written.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.sealed) == 0 {
		return nil
	}
	event := o.sealed[0]
	o.sealed = o.sealed[1:]
	return event
}

// sealOpen makes what is in the open event ready to be taken.
func (o *outbox) sealOpen() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.open) > 0 {
		o.seal()
	}
}

// many reports whether there is more than a small answer has.
func (o *outbox) many() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held >= sealBytes
}

// wrote makes room after a taken event has been written.
func (o *outbox) wrote(event []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held -= len(event)
	o.recycle(event)
	signal(o.room)
}

// mostHeld returns the most bytes that were held at one time.
func (o *outbox) mostHeld() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.most
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
