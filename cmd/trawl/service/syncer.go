package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/watch"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// Syncer keeps all repositories of a service up to their sources, each in a rhythm
// of its own. A source that fails is logged and tried again later, and stops no
// other.
type Syncer struct {
	Service *Service
	// Interval is the least time between two looks at a source; 0 is one look
	// only.
	Interval time.Duration
	// Stay says that what Repositories.Refresh asks for is synced after that, too.
	Stay    bool
	Log     zerolog.Logger
	Display *progress.Display
	// Watch says that repositories of this machine are synced soon after they change.
	Watch bool
	// Before, if set, is called at the start and at every interval, before the
	// repositories are listed.
	Before func()

	// rhythm says when repositories are due, agenda in which order they are
	// synced. They and all below belong to the goroutine of Run.
	rhythm rhythm
	agenda agenda
	// ended hands over what the goroutines of syncs have done.
	ended chan synced
	// merged is when a merge was last asked for that follows no sync.
	merged time.Time
	// leftOut is how many branches were logged as too many, by repository.
	leftOut map[string]int32
	// watcher watches repositories of this machine, nil if it does not.
	watcher *watch.Watcher
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

// mergeEvery is how often a merge is asked for at least, which sets apart shards of
// repositories whose readers or stars have changed.
const mergeEvery = 5 * time.Minute

// leastElsewhere is the least time between two looks whether a repository is the work
// of another node still.
const leastElsewhere = 5 * time.Second

// Run syncs the repositories named first, calls begun when it has tried them,
// syncs all others, and goes on as each is due until ctx ends.
func (y *Syncer) Run(ctx context.Context, first []string, begun func()) {
	y.ended = make(chan synced)
	y.rhythm = rhythm{least: y.Interval, random: rand.Float64}
	y.merged = time.Now()
	merging, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer end()
	beside.Go(func() { y.Service.upkeep.KeepMerged(merging) })
	left := map[string]bool{}
	for _, name := range first {
		if r := y.Service.repositories.record(name); r != nil && y.Service.node.Mine(r.ID) {
			left[name] = true
		}
	}
	// Thousands of repositories take a second to survey and to watch.
	opened := len(left) == 0
	if opened {
		begun()
	}
	defer y.watchLocals()()
	y.survey(time.Now())
	y.ask(first)
	var surveys <-chan time.Time
	if y.Interval > 0 {
		ticker := time.NewTicker(y.Interval)
		defer ticker.Stop()
		surveys = ticker.C
	}
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		y.start(ctx)
		if !opened && (len(left) == 0 || y.agenda.idle() || y.halted() || ctx.Err() != nil) {
			opened = true
			begun()
		}
		if ctx.Err() != nil {
			break
		}
		if y.agenda.idle() && y.Interval == 0 && !y.Stay {
			y.Service.upkeep.merge(ctx)
			return
		}
		due.Stop()
		if wait, ok := y.agenda.until(time.Now()); ok {
			due.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case e := <-y.ended:
			delete(left, e.name)
			y.end(ctx, e)
		case <-y.Service.repositories.asked.signal:
			y.ask(y.Service.repositories.asked.take())
			y.take(time.Now())
		case <-y.Service.disk.resumed:
			y.resume(time.Now())
		case now := <-surveys:
			y.survey(now)
		case <-due.C:
		}
	}
	for len(y.agenda.atWork) > 0 {
		y.end(ctx, <-y.ended)
	}
}

// halted reports whether nothing is at work or can begin.
func (y *Syncer) halted() bool { return y.Service.disk.stopped() != nil && len(y.agenda.atWork) == 0 }

// survey brings the agenda in step with the repositories that there are.
func (y *Syncer) survey(now time.Time) {
	if y.Before != nil {
		y.Before()
	}
	all, err := y.Service.repositories.List(context.Background())
	if err != nil {
		y.Log.Error().Err(err).Msg("list repositories")
		return
	}
	known, there := make(map[string]bool, len(all)), make(map[uint32]bool, len(all))
	for _, r := range all {
		known[r.Name] = true
		there[r.ID] = true
		y.learn(r, now, time.Duration(len(all))*time.Second)
	}
	for name := range y.agenda.visits {
		if !known[name] {
			y.agenda.forget(name)
			delete(y.leftOut, name)
		}
	}
	y.Service.repositories.pushes.keep(there)
	y.follow(all)
	if now.Sub(y.merged) >= mergeEvery {
		y.merged = now
		y.Service.upkeep.mergeDue.set()
		y.Service.upkeep.historyDue.set() // commits may have been left unread
	}
}

// learn adds a repository to the agenda. Those that are overdue are spread over a
// time.
func (y *Syncer) learn(r *store.Repository, now time.Time, spread time.Duration) *visit {
	v := y.agenda.visits[r.Name]
	if v == nil {
		due := time.Time{}
		if y.Interval > 0 {
			due = y.rhythm.first(r, now, spread)
		}
		v = y.agenda.learn(r.Name, hostOf(r), r.LastIndexed, due)
	}
	v.id = r.ID
	return v
}

// ask has repositories synced before others.
func (y *Syncer) ask(names []string) {
	for _, name := range names {
		if r := y.Service.repositories.record(name); r != nil {
			y.agenda.ask(y.learn(r, time.Now(), 0))
			y.followOne(r)
		}
	}
}

// leave leaves a repository that is due to the node whose work it is.
func (y *Syncer) leave(name string, now time.Time) {
	v := y.agenda.end(name)
	if v == nil {
		return
	}
	v.elsewhere = true
	y.agenda.again(v, now.Add(y.rhythm.jitter(max(y.Interval, leastElsewhere))))
}

// take has those repositories synced soon that another node did before.
func (y *Syncer) take(now time.Time) {
	for name, v := range y.agenda.visits {
		if v.elsewhere && y.agenda.atWork[name] == nil && y.Service.node.Mine(v.id) {
			v.elsewhere = false
			y.agenda.again(v, now.Add(time.Duration(y.rhythm.random()*float64(y.Interval))))
		}
	}
}

// resume has done what was left for want of room.
func (y *Syncer) resume(now time.Time) {
	for name, v := range y.agenda.visits {
		if y.Interval == 0 && y.agenda.atWork[name] == nil {
			y.agenda.again(v, now)
		}
	}
	y.Service.upkeep.mergeDue.set()
}

// start starts as many syncs as may be at work. While indexing is stopped it
// starts none; the rest is done when there is room again.
func (y *Syncer) start(ctx context.Context) {
	if y.Service.disk.stopped() != nil && y.Interval == 0 {
		y.agenda.drop(time.Now())
	}
	for ctx.Err() == nil && y.Service.disk.stopped() == nil {
		name, ok := y.agenda.next(time.Now())
		if !ok {
			break
		}
		if !y.Service.node.Mine(y.agenda.visits[name].id) {
			y.leave(name, time.Now())
			continue
		}
		task := y.Display.Start(name)
		go func() { y.ended <- y.sync(ctx, name, task) }()
	}
	y.Service.repositories.queue.toCome(y.agenda.len())
}

func (y *Syncer) sync(ctx context.Context, name string, task *progress.Task) synced {
	res, err := y.Service.repositories.Sync(ctx, name, task.Report)
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
	case y.Service.disk.reported(err):
	default:
		y.Log.Warn().Str("repo", name).Str("err", redact.Text(err.Error())).Msg("sync")
	}
	task.Fail(err)
	return synced{name, res, err}
}

// end notes that a sync is over, and when the next one is due.
func (y *Syncer) end(ctx context.Context, e synced) {
	v := y.agenda.end(e.name)
	if v == nil || ctx.Err() != nil {
		return
	}
	now := time.Now()
	switch {
	case errors.Is(e.err, git.ErrBusy) && y.agenda.retry(v):
		return
	case e.err == nil:
		y.tellLeftOut(e.res.Repository)
		v.changed = e.res.Repository.LastIndexed
		v.failures, v.retried = 0, false
	case !stopsIndexing(e.err):
		v.failures++
	}
	if y.Interval > 0 {
		y.agenda.again(v, y.next(v, e, now))
	}
}

// next is when a repository is due whose sync is over.
func (y *Syncer) next(v *visit, e synced, now time.Time) time.Time {
	local := v.host == ""
	switch until, slow := RestAfter(e.res.Took, now, e.err); {
	case e.err == nil:
		return now.Add(y.rhythm.rest(local, now.Sub(v.changed)))
	case stopsIndexing(e.err):
		return now // when there is room again
	case slow:
		return latest(until, now.Add(y.rhythm.backoff(local, v.failures)))
	}
	return now.Add(y.rhythm.backoff(local, v.failures))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

const (
	// slowFailure is how long a sync takes that is not tried again at once.
	slowFailure = 30 * time.Second
	// restShare is how many times as long it rests.
	restShare = 20
)

// RestAfter returns until when a repository rests at least whose sync took so long,
// without waiting, and ended then, with err. This keeps a source that
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
		y.leftOut = map[string]int32{}
	}
	if n := r.BranchesLeftOut; n != y.leftOut[r.Name] {
		y.leftOut[r.Name] = n
		if n > 0 {
			y.Log.Warn().Str("repo", r.Name).Int32("left_out", n).Msg(TooManyBranches)
		}
	}
}

// Summary returns the result of a sync as a line.
func Summary(res ingest.Result) progress.Summary {
	s := progress.Summary{Added: res.Added, Removed: res.Removed, Took: res.Took}
	if r := res.Repository; r != nil {
		s.Documents, s.TextBytes = r.Documents, r.TextBytes
	}
	return s
}
