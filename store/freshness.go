package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
)

const (
	// catchUpTime bounds how long CatchUp waits for the log while the process runs.
	catchUpTime = 2 * time.Second
	// confirmEvery is how often the log is looked at while runs are fetched.
	confirmEvery = 250 * time.Millisecond
)

// awake returns a context that ends, for context.DeadlineExceeded, when the process has
// run for d. It takes the time in parts: a process that stood still, as that of a
// machine that slept, finds all its timers over, and the answer there too.
func awake(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	const parts = 8
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for range parts {
			part := time.NewTimer(d / parts)
			select {
			case <-part.C:
			case <-ctx.Done():
				part.Stop()
				return
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(nil) }
}

// confirmNow confirms the store as of a time. Calls that wait for each other share one
// look at the log.
func (a *sharedAuthority) confirmNow(ctx context.Context, now time.Time) error {
	select {
	case a.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	answered := func() { <-a.asking }
	if a.confirmed.Load().After(now) {
		answered()
		return nil
	}
	a.mu.Lock()
	defer a.release()
	defer answered() // before subscribers are told, which may ask
	return a.confirm(ctx)
}

// confirm brings the store to the last version that needs no run which is not here, and
// confirms it if those behind that only bring documents. mu is held.
func (a *sharedAuthority) confirm(ctx context.Context) error {
	start := time.Now()
	err := a.read(ctx)
	lacking := (*lackingError)(nil)
	if !errors.As(err, &lacking) {
		return err
	}
	for at := max(a.at(), a.documents); ; {
		entries, err := a.log.Tail(ctx, at, tailBytes)
		switch {
		case errors.Is(err, cluster.ErrCut):
			return lacking
		case err != nil:
			return err
		case len(entries) == 0:
			a.documents = at
			a.confirmed.Store(&start)
			return nil
		}
		changes, err := decodeEntries(at, entries)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if !a.isOfDocuments(c.ops) {
				return lacking
			}
		}
		at = entries[len(entries)-1].Version
	}
}

// isOfDocuments reports whether ops say nothing of users, credentials and rights that
// the store does not know.
func (a *sharedAuthority) isOfDocuments(ops []operation) bool {
	c, _ := a.s.committer.current()
	for _, op := range ops {
		switch op := op.(type) {
		case headerOperation, deadOperation, exclusionOperation:
		case repositoryOperation:
			before := c.repository(op.id)
			if before != nil && (op.record == nil || op.record.Private != before.Private || op.record.IsGone() != before.IsGone() || !op.record.Readers.Equal(before.Readers)) {
				return false
			}
		case valueOperation:
			asked := op.name[0] == prefixRecord && RecordKind(op.name[1]) == RecordAsked
			if !asked && op.name[0] != prefixPeople && !bytes.Equal(op.name, keyNextRepository) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// keepConfirmed confirms the store while runs are fetched, until ctx ends: follow, which
// does so at other times, is waiting for them.
func (a *sharedAuthority) keepConfirmed(ctx context.Context) {
	defer close(a.kept)
	t := time.NewTicker(confirmEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = a.confirmNow(ctx, time.Now().Add(-confirmEvery)) // follow reports what is wrong
		}
	}
}
