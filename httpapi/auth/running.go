package auth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// ErrEnded is the cause with which a request's context ends when its
// credential does.
var ErrEnded = errors.New("the credential of the request has ended")

// running are the requests at work whose credentials can end. It is safe for
// concurrent use.
type running struct {
	mu       sync.Mutex // guards all below
	requests map[*request]struct{}
	// rechecked counts the rechecks.
	rechecked uint64
}

// now returns a moment for begin.
func (rs *running) now() uint64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.rechecked
}

type request struct {
	// good looks the credential up again.
	good   func() bool
	cancel context.CancelCauseFunc
}

// begin returns a context that ends with ErrEnded at the time until, if it is
// not zero, and when recheck finds that good does not hold any more. A nil
// good holds for ever. The credential was looked up after the moment since.
func (rs *running) begin(ctx context.Context, since uint64, until time.Time, good func() bool) (context.Context, func()) {
	if good == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	q := &request{good, cancel}
	rs.mu.Lock()
	if rs.requests == nil {
		rs.requests = map[*request]struct{}{}
	}
	rs.requests[q] = struct{}{}
	missed := rs.rechecked != since
	rs.mu.Unlock()
	if missed && !good() {
		cancel(ErrEnded)
	}
	var timer *time.Timer
	if !until.IsZero() {
		timer = time.AfterFunc(time.Until(until), func() { cancel(ErrEnded) })
	}
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		rs.mu.Lock()
		delete(rs.requests, q)
		rs.mu.Unlock()
		cancel(nil)
	}
}

// recheck ends the requests whose credentials are not good any more.
func (rs *running) recheck() {
	rs.mu.Lock()
	rs.rechecked++
	all := make([]*request, 0, len(rs.requests))
	for q := range rs.requests {
		all = append(all, q)
	}
	rs.mu.Unlock()
	for _, q := range all {
		if !q.good() {
			q.cancel(ErrEnded)
		}
	}
}

// Recheck looks up again the credentials of the requests at work and ends
// those whose has ended. Whoever ends credentials calls it.
func (g *Gate) Recheck() { g.running.recheck() }

// rechecks returns how to look up a credential again, nil for none.
func (g *Gate) rechecks(cred credential, a *Actor) func() bool {
	if a.User == nil {
		return nil
	}
	return func() bool {
		reg := g.Registry()
		var again *Actor
		var err error
		switch cred.kind {
		case accessToken:
			again, err = g.byToken(reg, cred)
		case bearerToken:
			again, err = g.byBearer(context.Background(), reg, cred)
		default:
			again, err = g.bySession(reg, cred)
		}
		return err == nil && again.User != nil && again.User.ID == a.User.ID
	}
}

// FromThisMachine reports whether a request came over loopback, or from the
// very address it was sent to, which no other machine has.
func FromThisMachine(r *http.Request) bool {
	remote := addressIP(r.RemoteAddr)
	if remote == nil || remote.IsLoopback() {
		return remote != nil
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && remote.Equal(addressIP(local.String()))
}

// addressIP returns nil for what is not an IP address and a port.
func addressIP(address string) net.IP {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	return net.ParseIP(host)
}
