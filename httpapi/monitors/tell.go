package monitors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/notify"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/saved"
)

const (
	// tellAtOnce bounds the deliveries that run at one time.
	tellAtOnce = 4
	// longestRetry is how long a delivery that failed waits at most, and giveUpAfter is how
	// long after it was found a firing is not tried any more.
	longestRetry = time.Hour
	giveUpAfter  = 24 * time.Hour
	// holdAfter is how long the other firings of a monitor wait after a failure.
	holdAfter = time.Minute
	// gatherFor is how long what was found waits for the rest of a look.
	gatherFor = 5 * time.Minute
)

// tellAll delivers what waits, until ctx ends.
func (r *Runner) tellAll(ctx context.Context) {
	for {
		next, err := r.tellDue(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error().Err(err).Msg("deliver what monitors found")
			next = r.Kept.Now().Add(again)
		}
		wait := time.Duration(-1)
		if !next.IsZero() {
			wait = max(next.Sub(r.Kept.Now()), 0) + time.Second
		}
		if !pause(ctx, r.tell, wait) {
			return
		}
	}
}

// tellDue delivers what is due, and returns when something else will be, zero if nothing
// else waits.
func (r *Runner) tellDue(ctx context.Context) (next time.Time, err error) {
	type firing struct{ search, number uint32 }
	var due []firing
	now := r.Kept.Now()
	err = r.Kept.Book.Firings.Waiting(func(search, number uint32, at time.Time) {
		switch {
		case !r.mine(search):
		case r.isLooking(search) && at.Add(gatherFor).After(now):
			next = earlier(next, at.Add(gatherFor)) // or as soon as the look has ended
		case !at.After(now):
			due = append(due, firing{search, number})
		case next.IsZero() || at.Before(next):
			next = at
		}
	})
	if err != nil {
		return next, err
	}
	bySearch := map[uint32][]uint32{}
	for _, f := range due {
		if until := r.held[f.search]; until.After(now) {
			next = earlier(next, until)
			continue
		}
		delete(r.held, f.search)
		bySearch[f.search] = append(bySearch[f.search], f.number)
	}
	var group errgroup.Group // whose context would end deliveries of others in the middle
	group.SetLimit(tellAtOnce)
	var mu sync.Mutex // guards next and held
	for search, numbers := range bySearch {
		group.Go(func() error {
			failed, err := r.tellSearch(ctx, search, numbers)
			if failed { // the others would wait as long for the same receiver
				mu.Lock()
				defer mu.Unlock()
				r.held[search] = r.Kept.Now().Add(holdAfter)
				next = earlier(next, r.held[search])
			}
			return err
		})
	}
	err = group.Wait()
	return next, err
}

// tellSearch delivers firings of a monitor in all of its ways, each until a message fails.
// failed says that one did, and is to be tried again.
func (r *Runner) tellSearch(ctx context.Context, search uint32, numbers []uint32) (failed bool, err error) {
	book := r.Kept.Book
	m, err := book.Monitors.Get(search)
	if errors.Is(err, store.ErrNotFound) {
		return false, book.Monitors.Remove(search)
	}
	if err != nil {
		return false, err
	}
	var all []*saved.Firing
	for _, number := range numbers {
		f, err := book.Firings.Get(search, number)
		switch {
		case errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt):
			err = book.Firings.EndWaiting(search, number)
		case err == nil:
			all = append(all, f)
		}
		if err != nil {
			return false, err
		}
	}
	for _, kind := range []notify.Kind{notify.Email, notify.Slack, notify.Webhook} {
		for _, b := range r.batches(m, kind, all) {
			again, err := r.tellBatch(ctx, b)
			if err != nil {
				return failed, err
			}
			if again {
				failed = true
				break
			}
		}
	}
	return failed, nil
}

// batch is firings that one message tells of.
type batch struct {
	monitor *saved.Monitor
	kind    notify.Kind
	firings []*saved.Firing
}

// batches puts what is due in one way into messages. People get one for all that is new,
// and the same again where that failed; programs get one for each firing.
func (r *Runner) batches(m *saved.Monitor, kind notify.Kind, all []*saved.Firing) (out []*batch) {
	now := r.Kept.Now()
	type message struct {
		with  uint32
		query string
	}
	of := map[message]*batch{}
	for _, f := range all {
		d := f.Delivery(string(kind))
		if d == nil || d.State != saved.DeliveryWaits || d.Next.After(now) {
			continue
		}
		with := d.With
		if kind == notify.Webhook || with == 0 && d.Tries > 0 {
			with = f.Number
		}
		b := of[message{with, f.Query}]
		if b == nil {
			b = &batch{monitor: m, kind: kind}
			of[message{with, f.Query}] = b
			out = append(out, b)
		}
		b.firings = append(b.firings, f)
	}
	return out
}

// each calls f with the delivery of each firing.
func (b *batch) each(f func(*saved.Firing, *saved.Delivery)) {
	for _, firing := range b.firings {
		f(firing, firing.Delivery(string(b.kind)))
	}
}

// keep has the store know how far the deliveries are.
func (r *Runner) keep(b *batch) error {
	var numbers []uint32
	now := map[uint32]saved.Delivery{}
	b.each(func(f *saved.Firing, d *saved.Delivery) {
		numbers = append(numbers, f.Number)
		now[f.Number] = *d
	})
	return r.Kept.Book.Firings.Change(b.monitor.Search, numbers, func(kept *saved.Firing) {
		if d := kept.Delivery(string(b.kind)); d != nil {
			*d = now[kept.Number]
		}
	})
}

// tellBatch delivers a message. failed says that it is to be tried again.
func (r *Runner) tellBatch(ctx context.Context, b *batch) (failed bool, err error) {
	// While the store takes nothing, nothing is sent, or it would be sent for ever.
	b.each(func(_ *saved.Firing, d *saved.Delivery) {
		d.With = b.firings[0].Number
		d.Next = r.Kept.Now().UTC().Add(retryAfter(d.Tries + 1)).Truncate(time.Millisecond)
	})
	if err := r.keep(b); err != nil {
		return false, err
	}
	to := receiverOf(b.monitor, string(b.kind))
	if until := r.closedUntil(to); !until.IsZero() {
		until = earlier(until, r.Kept.Now().UTC().Add(longestRetry)) // which it has said to another message
		b.each(func(_ *saved.Firing, d *saved.Delivery) { d.Next = until })
		return false, r.keep(b)
	}
	why, err := r.deliver(ctx, b)
	if ctx.Err() != nil {
		return false, ctx.Err() // that was no attempt
	}
	said := map[string]bool{}
	b.each(func(f *saved.Firing, d *saved.Delivery) {
		took := err
		if w := why[f.Number]; w != nil {
			took = w
		}
		log := r.Log
		if took != nil {
			if said[took.Error()] {
				log = zerolog.Nop() // a message of three hundred firings fails once
			}
			said[took.Error()] = true
		}
		r.took(log, f, b.monitor, d, took)
		r.heed(to, d, notify.Until(took))
		failed = failed || d.State == saved.DeliveryWaits
	})
	return failed, r.keep(b)
}

// receiver is where a monitor tells in one way. Another address is another receiver.
type receiver struct {
	search                uint32
	kind, address, sealed string
}

func receiverOf(m *saved.Monitor, kind string) receiver {
	to := receiver{search: m.Search, kind: kind}
	if t := m.Target(kind); t != nil {
		to.address, to.sealed = t.Address, string(t.Sealed)
	}
	return to
}

// closedUntil returns from when on a receiver takes messages, zero for now.
func (r *Runner) closedUntil(to receiver) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Kept.Now()
	maps.DeleteFunc(r.closed, func(_ receiver, until time.Time) bool { return !until.After(now) })
	return r.closed[to]
}

// heed has a message that waits, and others to the same receiver, wait until it takes
// messages, as it has said, and no longer than a message is tried. The record has an hour
// at most, since another address may take its place meanwhile.
func (r *Runner) heed(to receiver, d *saved.Delivery, until time.Time) {
	now := r.Kept.Now().UTC()
	if d.State != saved.DeliveryWaits || !until.After(now) {
		return
	}
	until = earlier(until.UTC().Truncate(time.Millisecond), now.Add(giveUpAfter))
	if until.After(d.Next) {
		d.Next = earlier(until, now.Add(longestRetry).Truncate(time.Millisecond))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed[to] = until
}

// retryAfter is how long a delivery waits after so many failures.
func retryAfter(tries int) time.Duration {
	return min(time.Minute<<min(tries-1, 10), longestRetry)
}

// took takes down, and logs, what an attempt came to.
func (r *Runner) took(to zerolog.Logger, f *saved.Firing, m *saved.Monitor, d *saved.Delivery, err error) {
	now := r.Kept.Now().UTC()
	if err == nil {
		d.State, d.Failure, d.Ended = saved.DeliveryDone, "", now
		return
	}
	d.Failure = err.Error()
	d.Tries++
	log := to.Warn().Uint32("search", f.Search).Uint32("user", m.Creator).Uint32("firing", f.Number).Str("kind", d.Kind).Int("try", d.Tries).Err(err)
	var inner internalError
	if errors.As(err, &inner) {
		log = log.AnErr("why", inner.error)
	}
	if errors.Is(err, notify.ErrPermanent) || now.Sub(f.At) > giveUpAfter {
		d.State, d.Ended = saved.DeliveryEnded, now
		log.Msg("gave up to deliver what a monitor found")
		return
	}
	log.Msg("deliver what a monitor found")
}

// internalError is one whose text is not for users.
type internalError struct{ error }

func (internalError) Error() string   { return "internal error; the server's log tells why" }
func (e internalError) Unwrap() error { return e.error }

// errWithheld says that there is nobody to tell any more. Trying again is of no use.
func errWithheld(why string) error { return fmt.Errorf("%s%w", why, quiet{notify.ErrPermanent}) }

// quiet is an error whose text is said by another.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

// deliver tells of a batch. why is what keeps single firings from being told, which are
// not in the message.
func (r *Runner) deliver(ctx context.Context, b *batch) (why map[uint32]error, err error) {
	target := b.monitor.Target(string(b.kind))
	if target == nil {
		return nil, errWithheld("the monitor does not tell there any more")
	}
	actor, search, err := r.whose(b.monitor)
	if why := cannot(""); errors.As(err, &why) {
		return nil, errWithheld(string(why))
	}
	if err != nil {
		return nil, internalError{err}
	}
	if search == nil {
		return nil, errWithheld("the saved search is not there any more")
	}
	to, err := r.Kept.Book.Monitors.Address(*target)
	if errors.Is(err, saved.ErrSealed) {
		return nil, errWithheld("its address was sealed with another key: write it again")
	}
	if err != nil {
		return nil, internalError{err}
	}
	if b.kind == notify.Email {
		if to = actor.User.PrimaryEmail(); to == "" {
			return nil, errWithheld("the user of the monitor has no e-mail address")
		}
	}
	owner := actor.User.Name
	if search.Owner.Kind == saved.SubjectUser {
		if owner, err = r.Kept.OwnerName(search.Owner); err != nil {
			return nil, internalError{err}
		}
	}
	told, why, err := r.shown(b, actor)
	if err != nil || len(told) == 0 {
		return why, err
	}
	return why, r.Send(ctx, b.kind, to, r.message(owner, search, told))
}

// shownFiring is a firing that a user may see, with the name that its repository has.
type shownFiring struct {
	*saved.Firing
	repository string
}

// shown returns the firings in repositories that a user sees, and why others are not told.
func (r *Runner) shown(b *batch, actor *auth.Actor) (told []shownFiring, why map[uint32]error, err error) {
	sn := r.Kept.Store.Snapshot()
	why = map[uint32]error{}
	for _, f := range b.firings {
		repo := sn.RepositoryByID(f.Repository)
		if repo == nil || !actor.CanSee(repo) {
			why[f.Number] = errWithheld("the repository is not there any more")
			continue
		}
		told = append(told, shownFiring{f, repo.Name})
	}
	if err := sn.Close(); err != nil {
		return nil, nil, internalError{err}
	}
	return told, why, nil
}

// message is what is told of firings. Where they are in several repositories, each has
// about as many matches in it.
func (r *Runner) message(owner string, s *saved.Search, told []shownFiring) notify.Message {
	first := told[0]
	out := notify.Message{
		ID:    fmt.Sprintf("monitor-%d-%d-%d", s.ID, first.Number, first.At.UnixMilli()),
		Title: strings.TrimSpace(s.Description), Query: first.Query, Found: first.At,
	}
	if out.Title == "" {
		out.Title = first.Query
	}
	if r.URL != "" {
		out.URL = fmt.Sprintf("%s/users/%s/searches/%d", r.URL, url.PathEscape(owner), s.ID)
	}
	repositories := map[string]bool{}
	each := max(notify.MaxMatches/len(told), 1)
	for _, f := range told {
		repositories[f.repository] = true
		out.Count += f.Count
		for _, m := range f.Matches[:min(len(f.Matches), each)] {
			match := notify.Match{Repository: f.repository, Path: m.Path, Line: m.Line, Text: m.Text}
			if r.URL != "" {
				match.URL = r.URL + MatchPath(f.repository, m)
			}
			out.Matches = append(out.Matches, match)
		}
	}
	if out.Repositories = len(repositories); out.Repositories == 1 {
		out.Repository = first.repository
	}
	return out
}

// MatchPath is where a match of a firing is on the server.
func MatchPath(repository string, m saved.Found) string {
	switch {
	case m.Path == "" && m.Commit == "":
		return code.RepositoryURL(repository, "")
	case m.Path == "":
		return code.CommitURL(repository, m.Commit)
	case m.Line == 0:
		return code.BlobURL(repository, m.Commit, m.Path)
	}
	return fmt.Sprintf("%s#L%d", code.BlobURL(repository, m.Commit, m.Path), m.Line)
}
