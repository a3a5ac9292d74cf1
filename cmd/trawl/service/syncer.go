package service

import (
	"context"
	"errors"
	"slices"
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
	// merging says that a round is not over, stirred that a merge may find more
	// than the last one did.
	merging, stirred bool
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

// syncsAtOnce is how many repositories are synced at once, which is to say
// fetched: they are indexed one after the other. One whose remote is slow keeps
// no other waiting.
const syncsAtOnce = 3

// Run syncs the repositories named first, calls begun when it has tried them,
// syncs all others, and goes on in rounds until ctx ends.
func (y *Syncer) Run(ctx context.Context, first []string, begun func()) {
	y.ended = make(chan synced)
	y.open(first)
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
		if y.merge(ctx) && y.Interval > 0 && !armed {
			armed = true
			due.Reset(y.Interval)
		}
		if !y.merging && y.agenda.idle() && y.Interval == 0 && !y.Stay {
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
	names := slices.Clone(first)
	for _, r := range all {
		if !slices.Contains(first, r.Name) {
			names = append(names, r.Name)
		}
	}
	y.agenda.open(names)
	y.merging, y.stirred = true, true
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
	y.stirred = true
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

// merge merges when all repositories of a round have been looked at but for
// those that are still fetched, and again behind those. It reports whether it
// did.
func (y *Syncer) merge(ctx context.Context) bool {
	if !y.merging || !y.stirred || len(y.agenda.round) > 0 || y.Service.queue.indexing() {
		return false
	}
	y.merging, y.stirred = len(y.agenda.atWork) > 0, false
	if y.Service.Stopped() != nil {
		return true
	}
	began := time.Now()
	n, err := y.Service.Merge(ctx, func(ingest.Progress) {})
	switch {
	case ctx.Err() != nil || errors.Is(err, errClosing) || y.Service.told(err):
	case err != nil:
		y.Log.Warn().Err(err).Msg("merge")
	case n > 0:
		y.Log.Info().Int("shards", n).Int64("took_ms", time.Since(began).Milliseconds()).Msg("merged")
	}
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
