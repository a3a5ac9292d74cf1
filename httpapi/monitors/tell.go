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

	"golang.org/x/sync/errgroup"

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
			for _, number := range numbers {
				failed, err := r.tellOne(ctx, search, number)
				if err != nil {
					return err
				}
				if failed { // the others would wait as long for the same receiver
					mu.Lock()
					defer mu.Unlock()
					r.held[search] = r.Kept.Now().Add(holdAfter)
					next = earlier(next, r.held[search])
					return nil
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return next, err
}

// tellOne delivers a firing everywhere it is due. failed says that it is to be tried again.
func (r *Runner) tellOne(ctx context.Context, search, number uint32) (failed bool, err error) {
	book := r.Kept.Book
	f, err := book.Firings.Get(search, number)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return false, book.Firings.EndWaiting(search, number)
	}
	if err != nil {
		return false, err
	}
	m, err := book.Monitors.Get(search)
	if errors.Is(err, store.ErrNotFound) {
		return false, book.Monitors.Remove(search)
	}
	if err != nil {
		return false, err
	}
	for i := range f.Deliveries {
		d := &f.Deliveries[i]
		if d.State != saved.DeliveryWaits || d.Next.After(r.Kept.Now()) {
			continue
		}
		keep := func() error {
			return book.Firings.Change(search, number, func(kept *saved.Firing) {
				if i < len(kept.Deliveries) {
					kept.Deliveries[i] = *d
				}
			})
		}
		// While the store takes nothing, nothing is sent, or it would be sent for ever.
		d.Next = r.Kept.Now().UTC().Add(retryAfter(d.Tries + 1)).Truncate(time.Millisecond)
		if err := keep(); err != nil {
			return false, ignoreGone(err)
		}
		to := receiverOf(m, d.Kind)
		if until := r.closedUntil(to); !until.IsZero() {
			d.Next = earlier(until, r.Kept.Now().UTC().Add(longestRetry)) // which it has said to another message
		} else {
			err := r.deliver(ctx, m, f, notify.Kind(d.Kind))
			if ctx.Err() != nil {
				return false, ctx.Err() // that was no attempt
			}
			r.took(f, m, d, err)
			r.heed(to, d, notify.Until(err))
			failed = failed || d.State == saved.DeliveryWaits
		}
		if err := keep(); err != nil {
			return false, ignoreGone(err)
		}
	}
	return failed, nil
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

// ignoreGone drops the error that there is no such record any more.
func ignoreGone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// retryAfter is how long a delivery waits after so many failures.
func retryAfter(tries int) time.Duration {
	return min(time.Minute<<min(tries-1, 10), longestRetry)
}

// took takes down what an attempt came to.
func (r *Runner) took(f *saved.Firing, m *saved.Monitor, d *saved.Delivery, err error) {
	now := r.Kept.Now().UTC()
	if err == nil {
		d.State, d.Failure, d.Ended = saved.DeliveryDone, "", now
		return
	}
	d.Failure = err.Error()
	d.Tries++
	log := r.Log.Warn().Uint32("search", f.Search).Uint32("user", m.Creator).Uint32("firing", f.Number).Str("kind", d.Kind).Int("try", d.Tries).Err(err)
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

// deliver tells of a firing in one way.
func (r *Runner) deliver(ctx context.Context, m *saved.Monitor, f *saved.Firing, kind notify.Kind) error {
	target := m.Target(string(kind))
	if target == nil {
		return errWithheld("the monitor does not tell there any more")
	}
	actor, search, err := r.whose(m)
	if why := cannot(""); errors.As(err, &why) {
		return errWithheld(string(why))
	}
	if err != nil {
		return internalError{err}
	}
	if search == nil {
		return errWithheld("the saved search is not there any more")
	}
	sn := r.Kept.Store.Snapshot()
	repo := sn.RepositoryByID(f.Repository)
	if err := sn.Close(); err != nil {
		return internalError{err}
	}
	if repo == nil || !actor.CanSee(repo) {
		return errWithheld("the repository is not there any more")
	}
	to, err := r.Kept.Book.Monitors.Address(*target)
	if errors.Is(err, saved.ErrSealed) {
		return errWithheld("its address was sealed with another key: write it again")
	}
	if err != nil {
		return internalError{err}
	}
	if kind == notify.Email {
		if to = actor.User.PrimaryEmail(); to == "" {
			return errWithheld("the user of the monitor has no e-mail address")
		}
	}
	owner := actor.User.Name
	if search.Owner.Kind == saved.SubjectUser {
		if owner, err = r.Kept.OwnerName(search.Owner); err != nil {
			return internalError{err}
		}
	}
	return r.Send(ctx, kind, to, r.message(owner, repo.Name, search, f))
}

// message is what is told of a firing.
func (r *Runner) message(owner, repository string, s *saved.Search, f *saved.Firing) notify.Message {
	out := notify.Message{
		ID: fmt.Sprintf("monitor-%d-%d-%d", s.ID, f.Number, f.At.UnixMilli()), Title: strings.TrimSpace(s.Description), Query: f.Query,
		Repository: repository, Count: f.Count, Found: f.At,
	}
	if out.Title == "" {
		out.Title = f.Query
	}
	if r.URL != "" {
		out.URL = fmt.Sprintf("%s/users/%s/searches/%d", r.URL, url.PathEscape(owner), s.ID)
	}
	for _, m := range f.Matches {
		match := notify.Match{Repository: repository, Path: m.Path, Line: m.Line, Text: m.Text}
		if r.URL != "" {
			match.URL = r.URL + MatchPath(repository, m)
		}
		out.Matches = append(out.Matches, match)
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
