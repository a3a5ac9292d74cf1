package service

import (
	"context"
	"errors"
)

// errClosing is why a sync was cancelled.
var errClosing = errors.New("the server is shutting down")

// lifetime is the time until work in the background is to end.
type lifetime struct{ closing chan struct{} }

func newLifetime() lifetime { return lifetime{make(chan struct{})} }

// end may be called once.
func (l lifetime) end() { close(l.closing) }

// untilStop returns a context that ends with ctx or with the lifetime.
func (l lifetime) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	select {
	case <-l.closing:
		cancel(errClosing)
	default:
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-l.closing:
			cancel(errClosing)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}
