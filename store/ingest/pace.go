package ingest

import (
	"context"
	"sync/atomic"
	"time"
)

// pace bounds how many goroutines of an Indexer compute at once, and has them
// wait while searches are at work. A goroutine that waits for git does without a
// slot.
type pace struct {
	// slots holds a token for each goroutine that computes; nil is no bound.
	slots chan struct{}
	// yield is Options.Yield.
	yield func(context.Context, time.Duration) time.Duration
	// owed is how many nanoseconds may be waited for searches.
	owed atomic.Int64
}

const (
	// yieldShare is how many times as long as it has worked ingest waits for searches
	// that do not end, so that it goes on.
	yieldShare = 4
	// mostOwed bounds a wait.
	mostOwed = 20 * time.Millisecond
	// pauseEvery is how long ingest computes until it looks for searches again.
	pauseEvery = time.Millisecond
)

func newPace(o Options) *pace {
	p := &pace{yield: o.Yield}
	if o.Processors > 0 {
		p.slots = make(chan struct{}, o.Processors)
	}
	return p
}

// run calls f, which computes for a while, once no search is at work or ingest has
// waited for its share, and there is a slot.
func (p *pace) run(ctx context.Context, f func() error) error {
	p.pay(ctx)
	if p.slots != nil {
		p.slots <- struct{}{}
		defer func() { <-p.slots }()
	}
	start := time.Now()
	defer func() { p.owe(yieldShare * time.Since(start)) }()
	return f()
}

// pauses returns a function that a long computation calls again and again. Once a
// millisecond it waits for searches as run does; the computation keeps its slot. It is
// not safe for concurrent use.
func (p *pace) pauses(ctx context.Context) (pause func()) {
	var since time.Time
	return func() {
		worked := time.Since(since)
		if worked < pauseEvery {
			return
		}
		p.owe(yieldShare * min(worked, pauseEvery)) // it may not have worked all the time
		p.pay(ctx)
		since = time.Now()
	}
}

// pay waits for searches for as long as is owed at most.
func (p *pace) pay(ctx context.Context) {
	if owed := p.owed.Load(); owed > 0 {
		p.owed.Add(-int64(p.yield(ctx, time.Duration(owed))))
	}
}

// owe has ingest wait longer, up to mostOwed.
func (p *pace) owe(more time.Duration) {
	for {
		owed := p.owed.Load()
		if p.owed.CompareAndSwap(owed, min(owed+int64(more), int64(mostOwed))) {
			return
		}
	}
}
