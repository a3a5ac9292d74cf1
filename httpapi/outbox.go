package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query"
)

// sealBytes is the size from which a matches event is sent without waiting.
const sealBytes = 32768

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
	sealed [][]byte   // JSON arrays
	open   []byte     // a JSON array without its closing bracket
	spare  []byte     // memory of a written event, for the next open one
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
		o.scratch = o.encoder.append(o.scratch[:0], m)
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
	if o.held+len(match)+2 > o.limit && o.held > len(o.open) {
		return false
	}
	before := len(o.open)
	if before == 0 {
		o.open = append(slices.Grow(o.open, sealBytes+len(match)+3), '[')
	} else {
		o.open = append(o.open, ',')
	}
	o.open = append(o.open, match...)
	o.held += len(o.open) - before
	if len(o.open) >= sealBytes {
		o.seal()
	}
	o.most = max(o.most, o.held)
	return true
}

// seal closes the open event. The lock is held and the event is not empty.
func (o *outbox) seal() {
	o.sealed = append(o.sealed, append(o.open, ']'))
	o.held++
	o.open, o.spare = o.spare, nil
	signal(o.wake)
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

// wrote makes room after a taken event has been written. Its memory is used
// again, unless a huge match made it large.
func (o *outbox) wrote(event []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held -= len(event)
	if cap(event) <= 4*sealBytes {
		o.spare = event[:0]
	}
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
