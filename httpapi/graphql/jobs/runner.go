package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/identity"
	"github.com/trawlsearch/trawl/store/saved"
)

// Runner runs jobs. Its fields are set before Run and not changed afterwards;
// its methods are safe for concurrent use.
type Runner struct {
	Store    *store.Store
	Book     *saved.Book
	Registry *identity.Registry
	Searcher httpapi.Searcher
	Log      zerolog.Logger
	// Mine reports whether a job, by its ID, is run here and not by another node; nil
	// is always.
	Mine func(id uint32) bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	once sync.Once
	// wake holds a token when a job may have been queued.
	wake chan struct{}

	mu sync.Mutex // guards all below
	// current is the ID of the job that runs, stop ends it.
	current uint32
	stop    context.CancelFunc
}

func (r *Runner) prepare() {
	r.once.Do(func() {
		r.wake = make(chan struct{}, 1)
		if r.Now == nil {
			r.Now = time.Now
		}
		r.Store.Subscribe(func(a store.Applied) {
			if !a.Has(store.RecordJob) {
				return
			}
			r.signal()
		})
	})
}

func (r *Runner) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Wake has the runner look for jobs, since more may be its own.
func (r *Runner) Wake() {
	r.prepare()
	r.signal()
}

// Cancelled says that a job was cancelled or removed; if it runs it ends.
func (r *Runner) Cancelled(id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == id && r.stop != nil {
		r.stop()
	}
}

// Run runs what is queued, and what was interrupted when the last process
// ended, until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	r.prepare()
	for {
		for r.next(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
	}
}

// next runs the oldest job that is not over; false says that there is none.
func (r *Runner) next(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	all, err := r.Book.Jobs.All()
	if err != nil {
		r.Log.Error().Err(err).Msg("list search jobs")
		return false
	}
	i := slices.IndexFunc(all, func(j *saved.Job) bool { return !j.State.Final() && (r.Mine == nil || r.Mine(j.ID)) })
	if i < 0 {
		return false
	}
	return r.run(ctx, all[i].ID)
}

// run runs one job. False says that no other can be run before something changes.
func (r *Runner) run(ctx context.Context, id uint32) bool {
	work, stop := context.WithCancel(ctx)
	defer stop()
	r.begin(id, stop)
	defer r.begin(0, nil)
	err := r.search(work, id)
	switch {
	case err == nil, errors.Is(err, saved.ErrConflict), errors.Is(err, store.ErrNotFound):
		return true // done, or cancelled or removed by a user
	case ctx.Err() != nil:
		return false // it goes on at the next start
	case work.Err() != nil:
		return true
	}
	r.Log.Warn().Uint32("job", id).Err(err).Msg("search job")
	_, err = r.Book.Jobs.Change(id, func(j *saved.Job) {
		j.State, j.Finished, j.Failure = saved.JobFailed, r.Now().UTC(), failureText(err)
	})
	if err != nil && !errors.Is(err, saved.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
		r.Log.Error().Uint32("job", id).Err(err).Msg("end search job")
		return false
	}
	return true
}

func (r *Runner) begin(id uint32, stop context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, r.stop = id, stop
}

// refusal is a failure that the creator of a job is told.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// failureText is what the creator of a job learns of why it failed.
func failureText(err error) string {
	var known *refusal
	if errors.As(err, &known) {
		return known.text
	}
	return "internal error"
}

// search runs what is left of a job.
func (r *Runner) search(ctx context.Context, id uint32) error {
	job, err := r.Book.Jobs.Rewind(id)
	if err != nil {
		return err
	}
	q, err := manage.ParseJob(job.Query)
	if err != nil {
		return &refusal{err.Error()}
	}
	actor, err := r.actor(job.Creator)
	if err != nil {
		return err
	}
	if job.State == saved.JobQueued {
		if job, err = r.start(id, actor); err != nil {
			return err
		}
	}
	for job.Done < len(job.Repositories) {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A job may take hours: what its creator may see is judged anew.
		if actor, err = r.actor(job.Creator); err != nil {
			return err
		}
		if job, err = r.step(ctx, job, q, actor); err != nil {
			return err
		}
	}
	_, err = r.Book.Jobs.Change(id, func(j *saved.Job) {
		j.State, j.Finished = saved.JobCompleted, r.Now().UTC()
	})
	return err
}

// actor is whom a job searches for, as they are now.
func (r *Runner) actor(creator uint32) (*auth.Actor, error) {
	actor, err := r.kept().ActorOf(creator)
	if errors.Is(err, manage.ErrCreatorGone) {
		return nil, &refusal{"the user who created the job is gone or locked"}
	}
	return actor, err
}

func (r *Runner) kept() *manage.Kept {
	return &manage.Kept{Store: r.Store, Registry: r.Registry, Book: r.Book, Now: r.Now}
}

// start chooses the repositories.
func (r *Runner) start(id uint32, actor *auth.Actor) (*saved.Job, error) {
	sn := r.Store.Snapshot()
	var chosen []uint32
	for repo := range sn.Listed() {
		if actor.CanSee(repo) {
			chosen = append(chosen, repo.ID)
		}
	}
	if err := sn.Close(); err != nil {
		return nil, err
	}
	slices.Sort(chosen)
	return r.Book.Jobs.Change(id, func(j *saved.Job) {
		j.State, j.Started, j.Repositories = saved.JobRunning, r.Now().UTC(), chosen
	})
}
