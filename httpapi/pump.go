package httpapi

import (
	"sync/atomic"
	"time"

	"github.com/trawlsearch/trawl/query/search/admission"
)

// pumpAfter is how long a search runs before its matches are sent while it goes
// on: longer than a small search takes, less than a person notices.
const pumpAfter = 2 * time.Millisecond

// pump is a goroutine that runs beside a search if that is worth it. The zero
// value with run set is ready.
type pump struct {
	// run works until over is closed, or ends before.
	run func(over <-chan struct{})

	begun       atomic.Bool
	over, ended chan struct{}
	// broken is what run panicked with, set before ended is closed.
	broken any
}

// startAfter has the pump start after a delay, and returns what ends it, after
// which it does not run, whether it has ever begun or not. A panic of run goes on
// from there.
func (p *pump) startAfter(d *admission.Delay) (stop func()) {
	p.over, p.ended = make(chan struct{}), make(chan struct{})
	waiting := d.Add(p.start)
	return func() {
		waiting.Remove()
		if p.begun.CompareAndSwap(false, true) {
			return // nor will it begin
		}
		close(p.over)
		<-p.ended
		if p.broken != nil {
			panic(p.broken)
		}
	}
}

// start starts the pump now, unless it has begun.
func (p *pump) start() {
	if p.begun.CompareAndSwap(false, true) {
		go p.work()
	}
}

func (p *pump) work() {
	defer close(p.ended)
	defer func() { p.broken = recover() }()
	p.run(p.over)
}
