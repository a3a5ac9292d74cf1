package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// Syncer keeps all repositories of a service up to their sources. A source
// that fails is logged and tried again next time, and stops no other.
type Syncer struct {
	Service *Service
	// Interval is the time from the end of one round to the next, whatever is
	// still fetched then; 0 is one round only.
	Interval time.Duration
	// Stay says that what Service.Refresh asks for is synced after the last
	// round, too.
	Stay    bool
	Log     zerolog.Logger
	Display *progress.Display
	// Before, if set, is called before each round.
	Before func()

	// agenda is what there is to do. It and all below belong to the goroutine of
	// Run.
	agenda agenda
	// ended hands over what the goroutines of syncs have done.
	ended chan synced
	// merging says that a round is not over.
	merging bool
	// leftOut is how many branches were logged as too many, by repository.
	leftOut map[string]int
}

// synced is a sync that is over.
type synced struct {
	name string
	res  ingest.Result
	err  error
}

// TooManyBranches is what the log says of a repository with more branches to
// index than there is room for.
const TooManyBranches = "too many branches to index, the rest is searched through git"

// syncsAtOnce is how many syncs are at work. Most of them wait: to be fetched, to be
// read, or for the group that they are written in.
const syncsAtOnce = 256

// Run syncs the repositories named first, calls begun when it has tried them,
// syncs all others, and goes on in rounds until ctx ends.
func (y *Syncer) Run(ctx context.Context, first []string, begun func()) {
	y.ended = make(chan synced)
	y.open(first)
	merged, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer end()
	beside.Go(func() { y.Service.KeepMerged(merged) })
	left := map[string]bool{}
	for _, name := range first {
		left[name] = true
	}
	due := time.NewTimer(y.Interval)
	due.Stop()
	for opened, armed := false, false; ; {
		y.start(ctx)
		if !opened && (len(left) == 0 || y.agenda.idle() || ctx.Err() != nil) {
			opened = true
			begun()
		}
		if ctx.Err() != nil {
			break
		}
		if y.endRound() && y.Interval > 0 && !armed {
			armed = true
			due.Reset(y.Interval)
		}
		if !y.merging && y.agenda.idle() && y.Interval == 0 && !y.Stay {
			y.Service.merge(ctx)
			return
		}
		select {
		case <-ctx.Done():
		case e := <-y.ended:
			delete(left, e.name)
			y.end(ctx, e)
		case <-y.Service.asked.signal:
			y.agenda.ask(y.Service.asked.take())
		case <-y.Service.resumed:
			y.open(nil)
		case <-due.C:
			armed = false
			y.open(nil)
		}
	}
	for len(y.agenda.atWork) > 0 {
		y.end(ctx, <-y.ended)
	}
}

// open begins a round, with the repositories named first.
func (y *Syncer) open(first []string) {
	if y.Before != nil {
		y.Before()
	}
	all, err := y.Service.List(context.Background())
	if err != nil {
		y.Log.Error().Err(err).Msg("list repositories")
	}
	names, there := slices.Clone(first), map[string]bool{}
	for _, name := range first {
		there[name] = true
	}
	for _, r := range all {
		if !there[r.Name] {
			names = append(names, r.Name)
		}
	}
	y.agenda.open(names)
	y.merging = true
}

// start starts as many syncs as may be at work.
func (y *Syncer) start(ctx context.Context) {
	for ctx.Err() == nil && len(y.agenda.atWork) < syncsAtOnce {
		if y.Service.Stopped() != nil {
			y.agenda.drop() // the rest is done when there is room again
		}
		name, ok := y.agenda.next(time.Now())
		if !ok {
			break
		}
		task := y.Display.Start(name)
		go func() { y.ended <- y.sync(ctx, name, task) }()
	}
	y.Service.queue.toCome(y.agenda.len())
}

func (y *Syncer) sync(ctx context.Context, name string, task *progress.Task) synced {
	res, err := y.Service.Sync(ctx, name, task.Report)
	if err == nil {
		task.Done(Summary(res))
	}
	switch {
	case err == nil:
		if why := res.Repository.LastError; why != "" {
			y.Log.Warn().Str("repo", name).Str("err", redact.Text(why)).Msg("sync")
		}
		return synced{name, res, nil}
	case ctx.Err() != nil || errors.Is(err, errClosing):
		y.Log.Info().Str("repo", name).Msg("sync interrupted, it goes on at the next start")
	// Removed while it waited.
	case errors.Is(err, store.ErrNotFound):
	case y.Service.told(err):
	default:
		y.Log.Warn().Str("repo", name).Str("err", redact.Text(err.Error())).Msg("sync")
	}
	task.Fail(err)
	return synced{name, res, err}
}

// end notes that a sync is over.
func (y *Syncer) end(ctx context.Context, e synced) {
	if e.err == nil {
		y.tellLeftOut(e.res.Repository)
	}
	now := time.Now()
	y.agenda.end(e.name, errors.Is(e.err, git.ErrBusy) && ctx.Err() == nil)
	if until, ok := RestAfter(e.res.Took, now, e.err); ok {
		y.agenda.rest(e.name, until)
	}
}

const (
	// slowFailure is how long a sync takes that is not tried again at once.
	slowFailure = 30 * time.Second
	// restShare is how many times as long it rests.
	restShare = 20
)

// RestAfter returns until when a repository is left out of rounds whose sync took
// so long, without waiting, and ended then, with err. This keeps a source that
// takes long to fail, such as a remote that falls silent, from more than a small
// part of the time in which others could be fetched. Who asks for it by name need
// not wait.
func RestAfter(took time.Duration, ended time.Time, err error) (until time.Time, ok bool) {
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

// endRound ends the round once all of its repositories have been begun with, and
// reports whether it did. What readers of repositories have changed is merged now.
func (y *Syncer) endRound() bool {
	if !y.merging || len(y.agenda.round) > 0 {
		return false
	}
	y.merging = false
	y.Service.noteUnmerged()
	return true
}

// Summary returns the result of a sync as a line.
func Summary(res ingest.Result) progress.Summary {
	s := progress.Summary{Added: res.Added, Removed: res.Removed, Took: res.Took}
	if r := res.Repository; r != nil {
		s.Documents, s.TextBytes = r.Documents, r.TextBytes
	}
	return s
}
