package stream

import (
	"sync/atomic"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// background is a goroutine that runs beside a search if that is worth it. The zero
// value with run set is ready.
type background struct {
	// run works until over is closed, or ends before.
	run func(over <-chan struct{})

	started     atomic.Bool
	over, ended chan struct{}
	// broken is what run panicked with, set before ended is closed.
	broken any
}

// startAfter starts the goroutine after a delay. It returns what stops it, after which it
// does not run, whether it has ever started or not. A panic of run goes on from there.
func (b *background) startAfter(d *admission.Delay) (stop func()) {
	b.over, b.ended = make(chan struct{}), make(chan struct{})
	waiting := d.Add(b.start)
	return func() {
		waiting.Remove()
		if b.started.CompareAndSwap(false, true) {
			return // nor will it start
		}
		close(b.over)
		<-b.ended
		if b.broken != nil {
			panic(b.broken)
		}
	}
}

// start starts the goroutine now, unless it has started.
func (b *background) start() {
	if b.started.CompareAndSwap(false, true) {
		go b.work()
	}
}

func (b *background) work() {
	defer close(b.ended)
	defer func() { b.broken = recover() }()
	b.run(b.over)
}
