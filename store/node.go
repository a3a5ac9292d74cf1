package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store/cluster"
)

// Node is the part of a store in what it shares with other nodes: a log of versions, and
// the runs of shards. That of a store which shares nothing lacks nothing.
type Node struct{ a *sharedAuthority }

// Node returns that of the store.
func (s *Store) Node() Node { return s.node }

// Shares reports whether the store follows a log, which other nodes write as well.
func (n Node) Shares() bool { return n.a != nil }

// Confirmed returns when the store was last known to have the last version of the
// log that it shares with others, or to lack nothing but documents. A store that shares
// none always has: ok is false then.
func (n Node) Confirmed() (at time.Time, ok bool) {
	if n.a == nil {
		return time.Time{}, false
	}
	return *n.a.confirmed.Load(), true
}

// CatchUp has the store and its subscribers know all that other nodes changed before
// the call, but for documents whose runs are still being fetched; no subscriber may
// call it. A store that shares no log always does. The error is ErrAway if the log does
// not answer, or if what is not known may be about users, credentials or rights.
func (n Node) CatchUp(ctx context.Context) error {
	if n.a == nil {
		return nil
	}
	within, cancel := awake(ctx, catchUpTime)
	defer cancel()
	err := n.a.confirmNow(within, time.Now())
	if err == nil {
		err = n.a.s.committer.deliveries.told(within, func(Version) bool { return true })
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case within.Err() != nil && errors.Is(err, context.Canceled):
		err = context.Cause(within)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// note takes up the quarantined shards of a catalogue.
func (n Node) note(c *catalogue) {
	if n.a != nil {
		n.a.refetch.note(c)
	}
}

// wasBehind reports whether there is a newer version than v, which other nodes may have
// made.
func (n Node) wasBehind(v Version) bool {
	if n.a == nil {
		return false
	}
	ctx, cancel := awake(context.Background(), catchUpTime)
	defer cancel()
	return n.a.catchUp(ctx) == nil && n.a.at() > cluster.Version(v)
}

// AwaitMended waits while damaged shards are being fetched again from what nodes share.
// Those that cannot be fetched are not waited for: their documents are to be indexed
// again. A store that shares nothing never waits.
func (n Node) AwaitMended(ctx context.Context) error {
	if n.a == nil {
		return nil
	}
	return n.a.refetch.await(ctx)
}

// Sharing is how a node gets along with what it shares with others.
type Sharing struct {
	Version Version
	// Confirmed is that of Node.
	Confirmed time.Time
	// Waiting is why the next version cannot be shown, "" if nothing is wrong.
	Waiting string
	// Fetching counts the quarantined shards that are fetched again, Hopeless those that
	// cannot be: neither this store of objects nor another node has had them. Mended
	// counts the shards that were, since the store was opened.
	Fetching, Hopeless int
	Mended             int64
}

// Sharing reports ok only for a store that shares a log.
func (n Node) Sharing() (out Sharing, ok bool) {
	a := n.a
	if a == nil {
		return Sharing{}, false
	}
	out = Sharing{Version: Version(a.at()), Confirmed: *a.confirmed.Load()}
	if _, why := a.exchange.arrivals.attempt(); why != nil {
		out.Waiting = why.Error()
	}
	r := a.refetch
	r.mu.Lock()
	defer r.mu.Unlock()
	out.Mended = r.mended
	for _, f := range r.shards {
		if f.hopeless() {
			out.Hopeless++
		} else {
			out.Fetching++
		}
	}
	return out, true
}
