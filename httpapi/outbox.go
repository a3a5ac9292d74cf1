package httpapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/admission"
	"github.com/trawlsearch/trawl/query/search/answer"
)

// leastBuffer is what every outbox may hold, lendBytes what it takes at once of
// the memory that all have beyond that.
const (
	leastBuffer = 64 << 10
	lendBytes   = 32 << 10
)

// maxSpares is how many events' memory is kept for others.
const maxSpares = 8

// eventMemory keeps the memory of events, event.UsualBytes each, for other streams; nil keeps
// none.
type eventMemory struct{ pool sync.Pool }

// get returns an empty slice.
func (m *eventMemory) get() []byte {
	if m == nil {
		return nil
	}
	if text, ok := m.pool.Get().(*[event.UsualBytes]byte); ok {
		return text[:0]
	}
	return make([]byte, 0, event.UsualBytes)
}

// put takes a slice that nobody uses any more. It keeps only the usual size.
func (m *eventMemory) put(text []byte) {
	if m != nil && cap(text) == event.UsualBytes {
		m.pool.Put((*[event.UsualBytes]byte)(text[:event.UsualBytes]))
	}
}

// outbox holds encoded matches between a search, which puts them in, and the
// writer of its stream, which takes them out. Its size is bounded: a search
// that finds faster than its client reads waits.
//
// Matches are collected into one open event. It is sealed, and the writer
// woken, as soon as it is large enough, and after the first batch of the
// search; otherwise the writer takes it when its tick comes.
type outbox struct {
	encoder event.Encoder     // used by the searching goroutine only, as those up to scratch
	ticket  *admission.Ticket // that of the search; nil never yields
	// parts are how many of the next match's parts were put in before the search
	// yielded.
	parts   int
	scratch []byte // one encoded match

	limit  int                 // most bytes held
	pool   *semaphore.Weighted // of the bytes beyond leastBuffer
	memory *eventMemory

	// wake signals the writer that an event is sealed, room the search that one
	// was written. Both hold one signal, so that none is missed.
	wake, room chan struct{}

	mu     sync.Mutex // guards all below
	sealed [][]byte   // whole events
	open   []byte     // an event as beginMatches leaves it, with the matches so far
	spares [][]byte   // memory of written events, for those to come
	held   int        // bytes sealed, open and being written
	lent   int        // bytes taken from pool
	rests  bool       // whether the search has yielded
	most   int        // the largest that held was
	began  bool       // whether the first batch has been put in
}

func newOutbox(e event.Encoder, limit int, pool *semaphore.Weighted, memory *eventMemory) *outbox {
	return &outbox{encoder: e, limit: limit, pool: pool, memory: memory, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put encodes a batch. It waits while the outbox is full, and returns early when
// ctx is done, or with a *answer.YieldError when others want the turn of the
// search meanwhile.
func (o *outbox) put(ctx context.Context, matches []query.Match) error {
	if len(matches) > 0 {
		defer o.begin()
	}
	for n, m := range matches {
		err := o.putOne(ctx, m)
		if errors.Is(err, errYield) {
			return &answer.YieldError{Delivered: n}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errYield says that the turn of the search is wanted.
var errYield = errors.New("yield")

func (o *outbox) putOne(ctx context.Context, m query.Match) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case o.encode(m):
		return nil
	case event.FitsMatch(len(o.scratch)):
		return o.add(ctx, o.scratch)
	}
	return o.putDivided(ctx, m)
}

// encode puts m in, where it stays: a hundred thousand matches are not copied
// from a buffer of their own. When there is no room for m, it is left in scratch.
func (o *outbox) encode(m query.Match) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, empty := len(o.open), len(o.open) == 0
	o.comma(0)
	start := len(o.open)
	o.open = o.encoder.Append(o.open, m)
	size := len(o.open) - start
	if event.FitsMatch(size) && o.fits(size, before) {
		o.added(before)
		return true
	}
	o.scratch = append(o.scratch[:0], o.open[start:]...)
	o.open = o.open[:before]
	switch {
	case empty:
		o.recycle(o.open)
		o.open = nil
	case cap(o.open) > event.UsualBytes: // it grew for what did not fit
		o.open = append(make([]byte, 0, event.UsualBytes), o.open...)
	}
	return false
}

func (o *outbox) putDivided(ctx context.Context, m query.Match) error {
	defer func() { o.scratch = nil }() // it grew beyond what a usual match needs
	for n, part := range event.Divide(m) {
		if n < o.parts {
			continue
		}
		o.scratch = o.encoder.AppendPart(o.scratch[:0], part)
		if err := o.add(ctx, o.scratch); err != nil {
			o.parts = n
			return err
		}
	}
	o.parts = 0
	return nil
}

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
		if err := o.await(ctx); err != nil {
			return err
		}
	}
}

// standAtMost is how long a search stalls before it yields of its own accord.
// Its unsent events are megabytes, which a client that takes a tenth of a
// second for each reads slowly; resuming costs milliseconds.
const standAtMost = 100 * time.Millisecond

// await waits until something was written.
func (o *outbox) await(ctx context.Context) error {
	wanted := o.ticket.Stall()
	defer o.ticket.Resume()
	var enough <-chan time.Time
	if o.ticket != nil {
		t := time.NewTimer(standAtMost)
		defer t.Stop()
		enough = t.C
	}
	select {
	case <-o.room:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wanted:
		return errYield
	case <-enough:
		return errYield
	}
}

// drained waits until most of what is held was written, and reports false when
// ctx is done before. The search does not run meanwhile.
func (o *outbox) drained(ctx context.Context) bool {
	o.rest(true)
	defer o.rest(false)
	for !o.low() {
		select {
		case <-o.room:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// rest has the outbox keep no more memory than is held, or as much as it likes
// of what it has taken. Once it has rested its client is known to be slow, and
// it has no use for more than the least.
func (o *outbox) rest(rests bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rests = rests; !rests {
		return
	}
	o.limit = min(o.limit, leastBuffer)
	o.spares, o.scratch = nil, nil
	o.encoder.Shrink()
	if len(o.open) > 0 {
		o.seal()
	}
	for i, event := range o.sealed {
		o.sealed[i] = slices.Clone(event)
	}
	o.giveBack(o.held - leastBuffer)
}

// low reports whether little is held of what may be.
func (o *outbox) low() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held <= min(o.limit, leastBuffer)/4
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
// has so many bytes. The lock is held, as for those below up to recycle.
func (o *outbox) fits(size, open int) bool {
	want := o.held + size + event.MatchesFrameBytes
	return want <= o.limit && o.borrow(want-leastBuffer) || o.held <= open
}

// borrow has the outbox hold so many bytes of the pool, if there are any left.
func (o *outbox) borrow(bytes int) bool {
	for o.lent < bytes {
		if !o.pool.TryAcquire(lendBytes) {
			return false
		}
		o.lent += lendBytes
	}
	return true
}

// giveBack has the outbox hold no more of the pool than so many bytes need.
func (o *outbox) giveBack(bytes int) {
	for o.lent > 0 && o.lent-lendBytes >= bytes {
		o.pool.Release(lendBytes)
		o.lent -= lendBytes
	}
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
	} else {
		o.open = o.memory.get()
	}
	o.open = event.BeginMatches(slices.Grow(o.open[:0], max(event.FullBytes+event.MatchesFrameBytes+size, event.UsualBytes)))
}

// added counts what was put in since the open event had so many bytes.
func (o *outbox) added(before int) {
	o.held += len(o.open) - before
	if event.IsFull(o.open) {
		o.seal()
	}
	o.most = max(o.most, o.held)
}

// seal closes the open event. The event is not empty.
func (o *outbox) seal() {
	before := len(o.open)
	sealed := event.EndMatches(o.open)
	o.held += len(sealed) - before
	o.sealed, o.open = append(o.sealed, sealed), nil
	signal(o.wake)
}

// recycle keeps the memory of an event for others, unless a huge match made it
// large, there is plenty, or it is more than the outbox may hold.
func (o *outbox) recycle(text []byte) {
	size := o.held + cap(text)
	for _, s := range o.spares {
		size += cap(s)
	}
	if cap(text) <= 4*event.FullBytes && len(o.spares) < maxSpares && size <= leastBuffer+o.lent && !o.rests {
		o.spares = append(o.spares, text[:0])
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
	// The array outlives what was taken out of it, by minutes if the client is slow.
	o.sealed[0] = nil
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

// many reports whether there is more than an answer has that is sent as a whole.
func (o *outbox) many() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.held >= wholeBytes
}

// wrote makes room after a taken event has been written.
func (o *outbox) wrote(event []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held -= len(event)
	if o.rests {
		o.giveBack(o.held - leastBuffer)
	}
	o.recycle(event)
	signal(o.room)
}

// close gives back what was taken from the pool, and the memory of events. Nothing is
// put in or taken out any more.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.giveBack(0)
	for _, event := range o.spares {
		o.memory.put(event)
	}
	o.spares = nil
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
