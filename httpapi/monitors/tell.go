package monitors

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/code"
	"github.com/trawlsearch/trawl/httpapi/manage"
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
	err = r.Kept.Book.Waiting(func(search, number uint32, at time.Time) {
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
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tellAtOnce)
	for _, f := range due {
		group.Go(func() error { return r.tellOne(ctx, f.search, f.number) })
	}
	return next, group.Wait()
}

// tellOne delivers a firing everywhere it is due.
func (r *Runner) tellOne(ctx context.Context, search, number uint32) error {
	book := r.Kept.Book
	f, err := book.Firing(search, number)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return book.EndWaiting(search, number)
	}
	if err != nil {
		return err
	}
	m, err := book.Monitor(search)
	if errors.Is(err, store.ErrNotFound) {
		return book.RemoveMonitor(search)
	}
	if err != nil {
		return err
	}
	for i := range f.Deliveries {
		d := &f.Deliveries[i]
		if d.State != saved.DeliveryWaits || d.Next.After(r.Kept.Now()) {
			continue
		}
		err := r.deliver(ctx, m, f, notify.Kind(d.Kind))
		if ctx.Err() != nil {
			return ctx.Err() // that was no attempt
		}
		r.note(f, d, err)
		if err := book.ChangeFiring(search, number, func(kept *saved.Firing) {
			if i < len(kept.Deliveries) {
				kept.Deliveries[i] = *d
			}
		}); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// note takes down what an attempt came to.
func (r *Runner) note(f *saved.Firing, d *saved.Delivery, err error) {
	now := r.Kept.Now().UTC()
	if err == nil {
		d.State, d.Failure, d.Ended = saved.DeliveryDone, "", now
		return
	}
	d.Failure = err.Error()
	d.Tries++
	log := r.Log.Warn().Uint32("search", f.Search).Uint32("firing", f.Number).Str("kind", d.Kind).Int("try", d.Tries).Err(err)
	if errors.Is(err, notify.ErrPermanent) || now.Sub(f.At) > giveUpAfter {
		d.State, d.Ended = saved.DeliveryEnded, now
		log.Msg("gave up to deliver what a monitor found")
		return
	}
	first := r.Retry
	if first == 0 {
		first = time.Minute
	}
	d.Next = now.Add(min(first<<min(d.Tries-1, 10), longestRetry))
	log.Msg("deliver what a monitor found")
}

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
	actor, err := r.Kept.ActorOf(m.Creator)
	if errors.Is(err, manage.ErrCreatorGone) {
		return errWithheld("the user of the monitor is gone or locked")
	}
	if err != nil {
		return err
	}
	sn := r.Kept.Store.Snapshot()
	repo := sn.RepositoryByID(f.Repository)
	if err := sn.Close(); err != nil {
		return err
	}
	if repo == nil || !actor.CanSee(repo) {
		return errWithheld("the repository is not there any more")
	}
	to, err := r.Kept.Book.Address(*target)
	if err != nil {
		return err
	}
	if kind == notify.Email {
		if to = actor.User.PrimaryEmail(); to == "" {
			return errWithheld("the user of the monitor has no e-mail address")
		}
	}
	search, err := r.Kept.Book.Search(m.Search)
	if errors.Is(err, store.ErrNotFound) {
		return errWithheld("the saved search is not there any more")
	}
	if err != nil {
		return err
	}
	return r.Send(ctx, kind, to, r.message(actor, search, f))
}

// message is what is told of a firing.
func (r *Runner) message(actor *auth.Actor, s *saved.Search, f *saved.Firing) notify.Message {
	out := notify.Message{
		ID: fmt.Sprintf("monitor-%d-%d-%d", s.ID, f.Number, f.At.UnixMilli()), Title: strings.TrimSpace(s.Description), Query: s.Query,
		Repository: f.Name, Count: f.Count, Found: f.At,
	}
	if out.Title == "" {
		out.Title = s.Query
	}
	if r.URL != "" && actor.User != nil {
		out.URL = fmt.Sprintf("%s/users/%s/searches/%d", r.URL, url.PathEscape(actor.User.Name), s.ID)
	}
	for _, m := range f.Matches {
		match := notify.Match{Repository: f.Name, Path: m.Path, Line: m.Line, Text: m.Text}
		if r.URL != "" {
			match.URL = r.URL + MatchPath(f.Name, m)
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
