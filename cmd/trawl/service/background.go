package service

import (
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/span"
)

// errClosing ends work in the background when the server stops.
var errClosing = errors.New("the server is shutting down")

// background is what all steps of work in the background share: they end when the service
// stops, keep their memory meanwhile, and are traced and counted.
type background struct {
	// closing is closed when they are to end.
	closing  chan struct{}
	busy     busy
	observer Observer // nil for none
}

// untilStop returns a context that ends with ctx or when the service stops.
func (b *background) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	select {
	case <-b.closing:
		cancel(errClosing)
	default:
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-b.closing:
			cancel(errClosing)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}

// begin begins a step, within a context that ends when the service stops, too. End is
// called once, with what came of it.
func (b *background) begin(ctx context.Context, w Work) (within context.Context, end func(changed bool, err error)) {
	ctx, cancel := b.untilStop(ctx)
	idle, start := b.busy.begin(), time.Now()
	within, traced := span.Start(ctx, string(w), "")
	return within, func(changed bool, err error) {
		traced(err)
		b.worked(ctx, w, time.Since(start), changed, err)
		idle()
		cancel()
	}
}

// worked reports a step to the observer.
func (b *background) worked(ctx context.Context, w Work, took time.Duration, changed bool, err error) {
	if b.observer == nil {
		return
	}
	outcome := WorkUnchanged
	switch {
	case ctx.Err() != nil || errors.Is(err, errClosing):
		outcome = WorkInterrupted
	case errors.Is(err, ingest.ErrLowDisk):
		outcome = WorkLowDisk
	case err != nil:
		outcome = WorkFailed
	case changed:
		outcome = WorkChanged
	}
	b.observer.Worked(w, outcome, took)
}

// signal holds a token when there is something to do.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
