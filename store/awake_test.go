package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwake: the context ends in time and with its parent, and leaves nothing behind,
// which would keep synctest from ending.
func TestAwake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := awake(t.Context(), catchUpTime)
		<-ctx.Done()
		if took := time.Since(began); took != catchUpTime || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("it ended after %v for %v, want %v and DeadlineExceeded", took, context.Cause(ctx), catchUpTime)
		}
		cancel()
		parent, end := context.WithCancel(t.Context())
		ctx, cancel = awake(parent, time.Hour)
		end()
		<-ctx.Done()
		cancel()
		ctx, cancel = awake(t.Context(), time.Hour)
		cancel()
		synctest.Wait()
		if took := time.Since(began); took != catchUpTime || !errors.Is(ctx.Err(), context.Canceled) {
			t.Errorf("cancelled: after %v, %v", took, ctx.Err())
		}
	})
}
