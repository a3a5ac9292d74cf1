package admission

import (
	"context"
	"slices"
	"sync"
)

// Queue admits as many searches at once as there is memory for; the others wait.
// The waiting search whose client has the fewest tickets is next, in order of
// arrival among equals. A quarter of the tickets is for clients that have hardly
// any, so that one client with hundreds of searches does not keep others from
// theirs.
//
// A search whose client reads slowly holds its ticket without working. That
// does no harm until another search waits; then the search that has stalled
// longest is asked to yield. It ends, keeps only a bookmark, and resumes when
// its client has read the sent matches. It then finds much a second time, for a
// client that is in no hurry. So at most an eighth of the tickets are for
// resumed searches, and no more than half the processors, or two, have work
// with, and others go before them seven times out of eight. Queue is safe for
// concurrent use.
type Queue struct {
	most int
	// mostResumed is how many tickets resumed searches have at once.
	mostResumed int

	mu      sync.Mutex // guards all below and the fields of tickets
	free    int
	waiters []*applicant
	// resumed is how many resumed searches have tickets, passed how many others
	// went before a waiting one of them.
	resumed, passed int
	// held counts tickets by client.
	held map[string]int
	// stalled are the tickets whose search stalls and was not asked to yield, the
	// longest first; asked counts those that were and have not yet ended.
	stalled []*Ticket
	asked   int
}

// applicant is a search that asks for a ticket. One that has to wait has ready;
// ticket is set before that is closed.
type applicant struct {
	client  string
	resumed bool
	ticket  *Ticket
	ready   chan struct{}
}

// Ticket admits a search while it runs. A nil Ticket is never asked to yield.
type Ticket struct {
	queue   *Queue
	client  string
	resumed bool
	// yield is closed when another search wants the ticket; nil before the search
	// stalls.
	yield chan struct{}
	// stalls says that the search waits for its client, asked that yield is
	// closed.
	stalls, asked bool
}

// NewQueue returns a queue of n tickets, for searches that share so many
// processors.
func NewQueue(n, processors int) *Queue {
	return &Queue{most: n, mostResumed: max(min(n/oneResumedIn, max(processors/2, 2)), 1), free: n, held: map[string]int{}}
}

// Enter waits for a ticket until ctx ends, which is the error then. resumed says
// that the search comes back after it has yielded.
func (q *Queue) Enter(ctx context.Context, client string, resumed bool) (*Ticket, error) {
	q.mu.Lock()
	w := &applicant{client: client, resumed: resumed}
	q.waiters = append(q.waiters, w)
	if q.serve(); w.ticket == nil {
		w.ready = make(chan struct{})
	}
	q.requestYields()
	q.mu.Unlock()
	if w.ready == nil {
		return w.ticket, nil
	}
	select {
	case <-w.ready:
		return w.ticket, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.ticket != nil { // it came at the same time
		q.end(w.ticket)
	} else {
		q.waiters = slices.DeleteFunc(q.waiters, func(o *applicant) bool { return o == w })
	}
	return nil, ctx.Err()
}

// Leave gives the ticket back. It is called once.
func (t *Ticket) Leave() {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.queue.end(t)
}

// Stall records that the search cannot go on until its client reads, and returns
// a channel that is closed when it should yield. Resume must follow.
func (t *Ticket) Stall() <-chan struct{} {
	if t == nil {
		return nil
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	if t.stalls = true; t.yield == nil {
		t.yield = make(chan struct{})
	}
	t.queue.stalled = append(t.queue.stalled, t)
	t.queue.requestYields()
	return t.yield
}

// Resume records that the search goes on, or ends, after Stall. If it was asked
// to yield and goes on all the same, since its client read just then, another
// search is asked.
func (t *Ticket) Resume() {
	if t == nil {
		return
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.queue.move(t)
	t.queue.requestYields()
}

// Waiting returns how many searches wait for a ticket.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters)
}

// Working returns how many tickets are held.
func (q *Queue) Working() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.most - q.free
}

// Most returns how many tickets there are.
func (q *Queue) Most() int { return q.most }

// The lock is held in all that follows.

func (q *Queue) grant(w *applicant) {
	q.free--
	q.held[w.client]++
	if w.resumed {
		q.resumed++
	}
	w.ticket = &Ticket{queue: q, client: w.client, resumed: w.resumed}
	if w.ready != nil {
		close(w.ready)
	}
}

func (q *Queue) end(t *Ticket) {
	q.move(t)
	q.free++
	if q.held[t.client]--; q.held[t.client] == 0 {
		delete(q.held, t.client)
	}
	if t.resumed {
		q.resumed--
	}
	q.serve()
	q.requestYields()
}

// A client with fewer than keptFor tickets may have one of those that are kept,
// which are one in keptOneIn.
const (
	keptFor   = 2
	keptOneIn = 4
)

// isFor reports whether there is a ticket for w. None is kept from the program
// itself, which has no client name.
func (q *Queue) isFor(w *applicant) bool {
	return q.free > q.most/keptOneIn || q.free > 0 && (w.client == "" || q.held[w.client] < keptFor)
}

// oneResumedIn is the share of tickets that resumed searches have, and of the
// turns in which they go first.
const oneResumedIn = 8

// serve grants the tickets that are free.
func (q *Queue) serve() {
	for q.free > 0 {
		fresh, resumed := q.next(false), -1
		if q.resumed < q.mostResumed {
			resumed = q.next(true)
		}
		best := fresh
		switch {
		case fresh < 0 && resumed < 0:
			return
		case fresh < 0 || resumed >= 0 && q.passed >= oneResumedIn-1:
			best, q.passed = resumed, 0
		case resumed >= 0:
			q.passed++
		}
		w := q.waiters[best]
		q.waiters = slices.Delete(q.waiters, best, best+1)
		q.grant(w)
	}
}

// next returns the number of the next waiter among the resumed searches, or among
// the others; -1 if there is no ticket for any.
func (q *Queue) next(resumed bool) int {
	best := -1
	for i, w := range q.waiters {
		if w.resumed == resumed && q.isFor(w) && (best < 0 || q.held[w.client] < q.held[q.waiters[best].client]) {
			best = i
		}
	}
	return best
}

// move makes t a ticket of a search that does not stall.
func (q *Queue) move(t *Ticket) {
	switch {
	case t.asked:
		q.asked--
		t.asked, t.yield = false, nil
	case t.stalls:
		q.stalled = slices.DeleteFunc(q.stalled, func(o *Ticket) bool { return o == t })
	}
	t.stalls = false
}

// wanted returns how many waiters could have a ticket if others yielded.
func (q *Queue) wanted() int {
	resumed := 0
	for _, w := range q.waiters {
		if w.resumed {
			resumed++
		}
	}
	return len(q.waiters) - resumed + min(resumed, max(q.mostResumed-q.resumed, 0))
}

// requestYields asks as many stalled searches to yield as there are waiters that
// could have their tickets.
func (q *Queue) requestYields() {
	if len(q.stalled) == 0 {
		return
	}
	for wanted := q.wanted(); len(q.stalled) > 0 && q.asked < wanted; {
		t := q.stalled[0]
		q.stalled = q.stalled[1:]
		q.asked++
		t.asked = true
		close(t.yield)
	}
}
