package service

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// Syncer keeps all repositories of a service up to their sources. A source
// that fails is logged and tried again next time, and stops no other.
type Syncer struct {
	Service *Service
	// Interval is the time from the end of one round to the next; 0 is one
	// round only.
	Interval time.Duration
	// Stay says that what Service.Refresh asks for is synced after the last
	// round, too.
	Stay    bool
	Log     zerolog.Logger
	Display *progress.Display
	// Before, if set, is called before each round.
	Before func()

	// resting are repositories that failed slowly, until when.
	resting map[string]time.Time
	// leftOut is how many branches the log told to be too many, by repository.
	leftOut map[string]int
}

// TooManyBranches is what the log says of a repository with more branches to
// index than there is room for.
const TooManyBranches = "too many branches to index, the rest is searched through git"

// Run syncs the repositories named first, calls begun, syncs all others, and
// goes on in rounds until ctx ends.
func (y *Syncer) Run(ctx context.Context, first []string, begun func()) {
	done := map[string]bool{}
	for _, name := range first {
		y.sync(ctx, name)
		done[name] = true
	}
	begun()
	y.round(ctx, done)
	if y.Interval == 0 && !y.Stay {
		return
	}
	var due <-chan time.Time
	if y.Interval > 0 {
		timer := time.NewTicker(y.Interval)
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-y.Service.asked.signal:
			y.refresh(ctx)
		case <-y.Service.resumed:
			y.round(ctx, nil)
		case <-due:
			y.round(ctx, nil)
		}
	}
}

// refresh syncs what was asked for.
func (y *Syncer) refresh(ctx context.Context) {
	for _, name := range y.Service.asked.take() {
		y.sync(ctx, name)
	}
}

// round syncs every repository that is not done, and merges.
func (y *Syncer) round(ctx context.Context, done map[string]bool) {
	if y.Before != nil {
		y.Before()
	}
	all, err := y.Service.List(ctx)
	if err != nil {
		y.Log.Error().Err(err).Msg("list repositories")
		return
	}
	defer y.Service.queue.toCome(0)
	for i, r := range all {
		if ctx.Err() != nil || y.Service.Stopped() != nil {
			return // the rest is done when there is room again
		}
		y.Service.queue.toCome(len(all) - i - 1)
		y.refresh(ctx)
		if !done[r.Name] && !time.Now().Before(y.resting[r.Name]) {
			y.sync(ctx, r.Name)
		}
	}
	y.merge(ctx)
}

func (y *Syncer) sync(ctx context.Context, name string) {
	if ctx.Err() != nil {
		return
	}
	task := y.Display.Start(name)
	began := time.Now()
	res, err := y.Service.Sync(ctx, name, task.Report)
	y.rest(name, began, err)
	switch {
	case err == nil:
		task.Done(Summary(res))
		y.tellLeftOut(res.Repository)
		if why := res.Repository.LastError; why != "" {
			y.Log.Warn().Str("repo", name).Str("err", httpapi.WithoutCredentials(why)).Msg("sync")
		}
		return
	case ctx.Err() != nil || errors.Is(err, errClosing):
		y.Log.Info().Str("repo", name).Msg("sync interrupted, it goes on at the next start")
	// Removed while it waited.
	case errors.Is(err, store.ErrNotFound):
	case y.Service.told(err):
	default:
		y.Log.Warn().Str("repo", name).Str("err", httpapi.WithoutCredentials(err.Error())).Msg("sync")
	}
	task.Fail(err)
}

// rest keeps a source that takes long to fail, such as a remote that falls
// silent, from more than a small part of the time: the others wait for it. Who
// asks for it by name need not wait.
func (y *Syncer) rest(name string, began time.Time, err error) {
	delete(y.resting, name)
	now := time.Now()
	if until, ok := RestAfter(began, now, err); ok {
		if y.resting == nil {
			y.resting = map[string]time.Time{}
		}
		y.resting[name] = until
	}
}

const (
	// slowFailure is how long a sync takes that is not tried again at once.
	slowFailure = 30 * time.Second
	// restShare is how many times as long it rests.
	restShare = 20
)

// RestAfter returns until when a repository is left out of rounds whose sync
// began and ended then, with err.
func RestAfter(began, ended time.Time, err error) (until time.Time, ok bool) {
	took := ended.Sub(began)
	if err == nil || took < slowFailure {
		return time.Time{}, false
	}
	return ended.Add(restShare * took), true
}

// tellLeftOut logs branches that are too many, once each number of them.
func (y *Syncer) tellLeftOut(r *store.Repository) {
	if y.leftOut == nil {
		y.leftOut = map[string]int{}
	}
	if n := r.BranchesLeftOut; n != y.leftOut[r.Name] {
		y.leftOut[r.Name] = n
		if n > 0 {
			y.Log.Warn().Str("repo", r.Name).Int("left_out", n).Msg(TooManyBranches)
		}
	}
}

func (y *Syncer) merge(ctx context.Context) {
	began := time.Now()
	n, err := y.Service.Merge(ctx, func(ingest.Progress) {})
	switch {
	case ctx.Err() != nil || errors.Is(err, errClosing) || y.Service.told(err):
	case err != nil:
		y.Log.Warn().Err(err).Msg("merge")
	case n > 0:
		y.Log.Info().Int("shards", n).Int64("took_ms", time.Since(began).Milliseconds()).Msg("merged")
	}
}

// Summary tells what a sync did.
func Summary(res ingest.Result) progress.Summary {
	s := progress.Summary{Added: res.Added, Removed: res.Removed, Took: res.Took}
	if r := res.Repository; r != nil {
		s.Documents, s.TextBytes = r.Documents, r.TextBytes
	}
	return s
}
