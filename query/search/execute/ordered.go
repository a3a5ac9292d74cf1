package execute

import (
	"context"
	"sync"
)

// Ordered runs segments on workers and hands them on in the order in which they
// were put. One goroutine calls Put and Close, another may call Each.
//
// A segment that was put is always handed on, after it was run or abandoned, so
// that what it holds can be released.
type Ordered[S any] struct {
	ctx     context.Context
	options Options[S]

	work    chan *task[S]
	ordered chan *task[S]
	started int
	workers sync.WaitGroup
}

// Ahead is how many segments of each worker searches put before the first of them
// has been sent.
const Ahead = 4

// Options say how segments are run.
type Options[S any] struct {
	// Workers is how many segments are run at once, at least 1.
	Workers int
	// Ahead is how many segments of each worker may be put before the first of
	// them was taken.
	Ahead int
	// Worker returns the function that runs segments in one goroutine, and the
	// one that ends it. Workers are started as segments come, so a search of one
	// segment has one.
	Worker func() (run func(S), end func())
	// Abandon is called in place of run for a segment that was put when the
	// context had ended.
	Abandon func(S, error)
}

// task is a segment on its way; done is closed when it was run or abandoned.
type task[S any] struct {
	segment S
	done    chan struct{}
}

// New returns an Ordered whose Put fails once ctx has ended. Close ends it.
func New[S any](ctx context.Context, o Options[S]) *Ordered[S] {
	return &Ordered[S]{ctx: ctx, options: o, work: make(chan *task[S]), ordered: make(chan *task[S], o.Ahead*o.Workers)}
}

// Put has a segment run, and waits while too many are on their way. It reports
// false when ctx has ended.
func (o *Ordered[S]) Put(s S) bool {
	t := &task[S]{segment: s, done: make(chan struct{})}
	select {
	case o.ordered <- t:
	case <-o.ctx.Done():
		return false
	}
	if o.started < o.options.Workers {
		o.started++
		o.workers.Go(o.run)
	}
	select {
	case o.work <- t:
		return true
	case <-o.ctx.Done():
		o.options.Abandon(s, o.ctx.Err())
		close(t.done)
		return false
	}
}

// run is a worker.
func (o *Ordered[S]) run() {
	run, end := o.options.Worker()
	defer end()
	for t := range o.work {
		run(t.segment)
		close(t.done)
	}
}

// Close says that no more segments are put, and waits for the workers to end.
func (o *Ordered[S]) Close() {
	close(o.work)
	close(o.ordered)
	o.workers.Wait()
}

// Each calls take with the segments in order until Close, or until take returns
// false; the segments that are left are waited for then, and not taken. take
// ends the context before it returns false, so that none are put in vain.
func (o *Ordered[S]) Each(take func(S) bool) {
	more := true
	for t := range o.ordered {
		<-t.done
		more = more && take(t.segment)
	}
}
