package auth

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// ErrEnded is the cause with which a request's context ends when its
// credential does, or stands for less than it did.
var ErrEnded = errors.New("the credential of the request has ended, may see less than it could, or cannot be confirmed")

// running are the requests at work that may have to end. It is safe for
// concurrent use.
type running struct {
	mu       sync.Mutex // guards all below
	requests map[*request]struct{}
	// rechecked counts the rechecks.
	rechecked uint64
}

// now returns the number of rechecks so far, for begin.
func (rs *running) now() uint64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.rechecked
}

// request is a request at work, and its context.
type request struct {
	context.Context
	actor *Actor
	// good looks the credential up again; nil holds for ever.
	good   func() bool
	cancel context.CancelCauseFunc
	// among are the requests that it is one of.
	among *running

	mu    sync.Mutex // guards all below
	ended bool
	then  func() // see WhenEnded
}

type requestKey struct{}

// Value implements context.Context.
func (q *request) Value(key any) any {
	switch key {
	case actorKey{}:
		return q.actor
	case requestKey{}:
		return q
	}
	return q.Context.Value(key)
}

// isGood looks the credential up again.
func (q *request) isGood() bool { return q.good == nil || q.good() }

// end ends the request, as its credential has.
func (q *request) end() {
	q.cancel(ErrEnded)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended = true; q.then != nil {
		go q.then()
		q.then = nil
	}
}

// WhenEnded has f called, in a goroutine of its own, when a request ends with
// ErrEnded. Its context is that of the request. A request has one f.
func WhenEnded(ctx context.Context, f func()) {
	q, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return // it does not end
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.then = f; q.ended {
		go f()
	}
}

// Outlive returns a context for what goes on when the request of ctx is over. It ends with
// ErrEnded as the request would. The caller calls release when it is over.
func Outlive(ctx context.Context) (lasting context.Context, release func()) {
	lasting = context.WithoutCancel(ctx)
	q, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return lasting, func() {} // it does not end
	}
	lasting, release = q.among.begin(lasting, q.among.now(), q.actor, q.good)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended || !q.isGood() { // since when it is not known
		lasting.(*request).end()
	}
	return lasting, release
}

// begin returns a context with the actor that ends with ErrEnded when the actor's
// credential ends by itself, when recheck finds that good does not hold any more,
// and when hide takes a repository from the actor. A nil good holds for ever. The
// credential was looked up after since, and the request reads only later.
func (rs *running) begin(ctx context.Context, since uint64, a *Actor, good func() bool) (context.Context, func()) {
	if good == nil && a.SeesAll() {
		return WithActor(ctx, a), func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	q := &request{Context: ctx, actor: a, good: good, cancel: cancel, among: rs}
	rs.mu.Lock()
	if rs.requests == nil {
		rs.requests = map[*request]struct{}{}
	}
	rs.requests[q] = struct{}{}
	missed := rs.rechecked != since
	rs.mu.Unlock()
	if missed && !q.isGood() {
		q.end()
	}
	var timer *time.Timer
	if !a.until.IsZero() {
		timer = time.AfterFunc(time.Until(a.until), q.end)
	}
	return q, func() {
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
	rs.end(func(q *request) bool { return !q.isGood() })
}

// hide ends the requests of users who could see a repository and cannot now.
func (rs *running) hide(before, after *store.Repository) {
	rs.end(func(q *request) bool { return q.actor.CanSee(before) && !q.actor.CanSee(after) })
}

func (rs *running) end(which func(*request) bool) {
	rs.mu.Lock()
	rs.rechecked++
	all := slices.Collect(maps.Keys(rs.requests))
	rs.mu.Unlock()
	for _, q := range all {
		if which(q) {
			q.end()
		}
	}
}

// Recheck looks up the credentials of the running requests again, and ends the
// requests whose credential has ended or lost rights. Code that ends
// credentials or takes away rights calls it.
func (g *Gate) Recheck() { g.running.recheck() }

// Hide ends the running requests of users who could see a repository before a
// change and cannot after it. Code that changes its readers calls it.
func (g *Gate) Hide(before, after *store.Repository) { g.running.hide(before, after) }

// currentEvery is how often KeepCurrent looks.
const currentEvery = 100 * time.Millisecond

// KeepCurrent ends the running requests while the node is not current, as if their
// credentials had ended, until ctx ends: who may see what is not known any more. The
// requests of the operator go on.
func (g *Gate) KeepCurrent(ctx context.Context) {
	t := time.NewTicker(currentEvery)
	defer t.Stop()
	for {
		if !g.IsCurrent() {
			g.running.end(func(*request) bool { return true })
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// rechecks returns how to look up a credential again, nil for none. A request that
// sees everything because there is no user ends when there is one, an anonymous one
// when there may be none any more.
func (g *Gate) rechecks(cred credential, a *Actor) func() bool {
	if a.alone && g.Registry != nil {
		return func() bool { return !g.Registry().Used() }
	}
	if a.User == nil {
		if a.operator || g.anonymousMode() != AnonymousYes {
			return nil // it got in for another reason
		}
		return func() bool { return g.anonymousMode() == AnonymousYes }
	}
	return func() bool {
		users := accounts{g.Registry(), g.Bearers}
		var again *Actor
		var err error
		switch cred.kind {
		case accessToken, bearerToken:
			again, err = users.byText(context.Background(), cred)
		case vouchedUser:
			again, err = users.byKnownVouched(cred)
		default:
			again, err = users.bySession(cred)
		}
		return err == nil && again.User != nil && again.User.ID == a.User.ID && again.hasRightsOf(a)
	}
}

// hasRightsOf reports whether a may see and do what it could before.
func (a *Actor) hasRightsOf(before *Actor) bool {
	if before.SiteAdmin() && !a.SiteAdmin() {
		return false
	}
	return !slices.ContainsFunc(before.Orgs, func(org uint32) bool { return !slices.Contains(a.Orgs, org) })
}
