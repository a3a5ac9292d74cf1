package commits

import (
	"context"
	"encoding/hex"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/coverage"
	"github.com/trawlsearch/trawl/query/search/execute"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// search searches the commits for one basic query: first the indexed ones, repository by
// repository, those last whose commits git has to list, and then those that have to be
// read through git. So slow matches never delay fast ones, and a limit may spare git its
// work. Within each the order is git log's.
type search struct {
	task     *task.Task
	out      *answer.Sender
	coverage *coverage.Ledger
	q        *commitQuery
	// repositories are those of chosen with commits to be looked at, in listing order, and
	// targets the same as far as the search has come, others being nil; unlisted are the
	// numbers of those that git is to list. idle counts the other repositories with commits,
	// where the index has all and nothing of it matches.
	chosen       *target.Repositories
	repositories []*store.Repository
	targets      []*targetCommits
	unlisted     []int
	idle         int
	people       map[uint32]store.People
	// shards are those of the targets that could be planned, by ID.
	shards map[uint32]*shardPlan

	mu   sync.Mutex // guards left.unreadable; nothing is called while it is held
	left unsearched
}

// targetCommits are the commits of a target.
type targetCommits struct {
	*target.Repository
	// indexed and unindexed are those to be looked at in the index and through git, and
	// seenIndexed and seenUnindexed count those that were. isUnlisted says that there are
	// others, which are not kept, and git is to list.
	indexed, unindexed         []item
	seenIndexed, seenUnindexed int
	isUnlisted                 bool
	// listed counts those that git has listed.
	listed int
}

// item is a commit to be looked at: one of a shard, or with an id one
// that git is to be asked for.
type item struct {
	shard  *shardPlan
	commit uint32
	oid    string
}

// segment is the unit of work: some commits of one target.
type segment struct {
	target *targetCommits
	// place is the number of the target.
	place  int
	items  []item
	viaGit bool

	matches []query.Match
	// looked counts the items that were looked at.
	looked int
	err    error
}

const (
	// segmentCommits are so many that a worker is usually busy for about a
	// millisecond. Between two commits others may have its slot.
	segmentCommits = 64
	// segmentLogged are so many that starting git does not count.
	segmentLogged = 128
)

// Runner searches commits. Each Run is for some basic queries.
type Runner struct {
	Task     *task.Task
	Out      *answer.Sender
	Coverage *coverage.Ledger
}

// Run searches commits for those of queries that ask for them.
func (r *Runner) Run(ctx context.Context, queries []*target.Query) error {
	for _, b := range queries {
		if b.Commits == nil || b.Commits.FindsNothing || r.Out.IsFullHere() {
			continue
		}
		c := newSearch(r.Task, &commitQuery{b, b.Commits})
		c.out, c.coverage = r.Out, r.Coverage
		err := c.search(ctx)
		c.reportLeft(err)
		c.cover(err)
		if err != nil {
			return err
		}
	}
	return nil
}

func newSearch(t *task.Task, q *commitQuery) *search {
	return &search{task: t, q: q}
}

func (s *search) search(ctx context.Context) (err error) {
	if s.people, err = s.peopleOf(s.q.Repositories); err != nil {
		return err
	}
	s.plan(ctx)
	s.chooseTargets(ctx)
	unfinished, err := s.confirm(ctx, s.keptSegments)
	if err != nil {
		left := slices.Clone(s.repositories[unfinished:])
		s.reportTargets(err, append(left, s.repositoriesOf(s.unlisted, func(n int) bool { return n < unfinished })...))
	}
	if err != nil || s.out.IsFullHere() {
		return err
	}
	if len(s.unlisted) > 0 {
		if unfinished, err = s.confirm(ctx, s.listedSegments); err != nil {
			s.reportTargets(err, s.repositoriesOf(s.unlisted, func(n int) bool { return n >= unfinished }))
		}
		if err != nil || s.out.IsFullHere() {
			return err
		}
	}
	_, err = s.confirm(ctx, s.unindexedSegments)
	return err
}

// repositoriesOf returns those with some numbers that keep holds for.
func (s *search) repositoriesOf(numbers []int, keep func(int) bool) (out []*store.Repository) {
	for _, n := range numbers {
		if keep(n) {
			out = append(out, s.repositories[n])
		}
	}
	return out
}

// chooseTargets sets the repositories. Of a lazy set only those are looked at that may have
// commits to be looked at, and some of the others for the coverage.
func (s *search) chooseTargets(ctx context.Context) {
	set := s.q.Repositories
	if set.IsLazy() && ctx.Err() == nil {
		ids := s.task.Snapshot.MarkedIDs(store.MarkHistoryPartial).Clone()
		for _, p := range s.shards {
			for _, run := range p.runs {
				ids.Add(run.repository)
			}
		}
		ids.Intersect(set.IDs())
		idle := set.IDs().Clone()
		for _, without := range []*store.IDs{ids, s.task.Snapshot.MarkedIDs(store.MarkEmpty), s.task.Snapshot.MarkedIDs(store.MarkUnindexed)} {
			idle.Subtract(without)
		}
		s.idle = idle.Len()
		for repo := range s.task.Visible.In(idle) {
			ids.Add(repo.ID)
			if s.idle--; idle.Len()-s.idle == coverage.MaxIdle {
				break
			}
		}
		set = set.In(ids)
	}
	s.chosen, s.repositories = set, make([]*store.Repository, 0, set.Len())
	for repo := range set.Listed() {
		if set.IsLazy() && repo.Indexed() && repo.Commit() != "" || !set.IsLazy() && hasCommits(set.Get(repo.ID)) {
			s.repositories = append(s.repositories, repo)
		}
	}
	s.targets = make([]*targetCommits, len(s.repositories))
}

func hasCommits(t *target.Repository) bool {
	return t.Stored.Indexed() && len(t.Revisions) > 0 && t.Revisions[0].Commit != ""
}

// plan reads the posting lists of the history shards, some at a time.
func (s *search) plan(ctx context.Context) {
	start := s.task.Now()
	views := s.historyShards()
	plans := make([]*shardPlan, len(views))
	execute.Share(ctx, s.task.Processors.Goroutines(), views, func(share iter.Seq2[int, shard.View]) {
		in := shardplan.NewReader(s.task, s.task.Processors.Slot())
		defer in.Close()
		defer in.Slot.Release()
		for i, v := range share {
			if in.Yield(ctx) == nil {
				plans[i] = s.planShard(v, in)
			}
		}
	})
	s.shards = map[uint32]*shardPlan{}
	commits, candidates, lists, bytes := 0, 0, 0, 0
	for _, p := range plans {
		if p == nil {
			continue
		}
		s.shards[p.view.ID] = p
		commits, candidates = commits+p.table.Len(), candidates+len(p.candidates)
		lists, bytes = lists+p.cost.Lists, bytes+p.cost.Bytes
		s.left.unsearchable += p.unsearchable(s.q)
	}
	s.task.Step("plan commits", start, s.task.Details(
		report.Count("shards", len(views)), report.Count("commits", commits), report.Count("candidates", candidates),
		report.Count("lists", lists), report.Count("list bytes", bytes),
	)...)
}

// historyShards returns the shards that hold commits of the repositories searched, in
// order.
func (s *search) historyShards() []shard.View {
	set, wanted := s.q.Repositories, map[uint32]bool{}
	if !set.IsLazy() {
		for t := range set.All() {
			if hasCommits(t) {
				for _, id := range t.Stored.History.Shards {
					wanted[id] = true
				}
			}
		}
	}
	return slices.DeleteFunc(s.task.Snapshot.Shards(), func(v shard.View) bool {
		return !wanted[v.ID] && !(set.IsLazy() && v.Header.IsHistory() && set.AnyIn(s.task.Snapshot, v.ID))
	})
}

// planShard plans one shard. One that cannot be planned is recorded and nil.
func (s *search) planShard(v shard.View, in *shardplan.Reader) *shardPlan {
	p, err := planCommits(v, s.q, s.people, s.task.WithoutLists(v.ID), in)
	if err != nil {
		s.task.FailShard(v.ID, err)
	}
	return p
}

// arrange puts the commits of a target in log order. Where the index has all of
// what is searched it knows the order; else git lists it.
func (s *search) arrange(ctx context.Context, t *targetCommits) error {
	if s.arrangeKept(t) {
		return ctx.Err()
	}
	return s.arrangeListed(ctx, t)
}

// arrangeListed is arrange by what git lists.
func (s *search) arrangeListed(ctx context.Context, t *targetCommits) error {
	listed, err := s.list(ctx, t)
	if err == nil {
		t.indexed, t.unindexed = s.divide(listed)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// The source cannot be read, so only the indexed commits of the tip are
	// searched.
	s.noteUnreadable(t.Repository, err)
	if len(t.Excluded) == 0 && t.Revisions[0].Commit == t.Stored.Commit() {
		t.indexed, _ = s.divide(s.candidates(t.Repository))
	}
	return nil
}

// arrangeKept is arrange where the index has all. It reports whether it has.
func (s *search) arrangeKept(t *targetCommits) bool {
	h := &t.Stored.History
	if s.q.Index == query.No || len(t.Revisions) != 1 || len(t.Excluded) > 0 || !h.Complete(t.Revisions[0].Commit) {
		return false
	}
	t.indexed, t.unindexed = s.divide(s.candidates(t.Repository))
	t.isUnlisted = h.More && s.q.Index != query.Only
	return true
}

// targetOf returns a target by its number. The commits of one that the search has not
// come to are arranged if the index has all, and else not listed.
func (s *search) targetOf(n int) *targetCommits {
	if t := s.targets[n]; t != nil {
		return t
	}
	t := s.newTarget(n)
	t.isUnlisted = !s.arrangeKept(t) || t.isUnlisted
	return t
}

func (s *search) newTarget(n int) *targetCommits {
	return &targetCommits{Repository: s.chosen.Get(s.repositories[n].ID)}
}

// candidates returns the candidates of a target in log order.
func (s *search) candidates(t *target.Repository) []item {
	var items []item
	for _, id := range t.Stored.History.Shards {
		p := s.shards[id]
		if p == nil {
			continue
		}
		for i := range p.of(t.Stored.ID) {
			items = append(items, item{shard: p, commit: i})
		}
	}
	slices.SortFunc(items, func(a, b item) int {
		return shard.CompareLog(a.shard.table, int(a.commit), b.shard.table, int(b.commit))
	})
	return items
}

// divide separates indexed commits from those that git has to be asked
// for.
func (s *search) divide(items []item) (indexed, unindexed []item) {
	for _, it := range items {
		if it.shard == nil || s.q.Diff && it.shard.table.State[it.commit] == shard.CommitPaths {
			if it.shard != nil {
				it.oid = hex.EncodeToString(it.shard.table.OID(int(it.commit)))
			}
			if s.q.Index != query.Only {
				unindexed = append(unindexed, it)
			}
			continue
		}
		indexed = append(indexed, it)
	}
	return indexed, unindexed
}

// confirm has segments confirmed and sends what matches, in order. It returns
// the number of the target of the last segment that was taken.
func (s *search) confirm(ctx context.Context, plan func(ctx context.Context, emit func(*segment) bool) error) (unfinished int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := s.task.Now()
	var mu sync.Mutex // guards what follows
	workers, looked, bytes := 0, 0, 0
	ordered := execute.New(ctx, execute.Options[*segment]{
		Workers: s.task.Processors.Goroutines(), Ahead: execute.Ahead, Abandon: func(seg *segment, err error) { seg.err = err },
		Worker: func() (run func(*segment), end func()) {
			w := newWorker(s)
			return func(seg *segment) { w.confirm(ctx, seg) }, func() {
				w.close()
				mu.Lock()
				defer mu.Unlock()
				workers, looked, bytes = workers+1, looked+w.looked, bytes+w.matcher.bytes
			}
		},
	})
	var planErr error
	var planning sync.WaitGroup
	defer planning.Wait()
	defer cancel() // also when the sink panics, which servers survive
	planning.Go(func() {
		defer ordered.Close()
		planErr = plan(ctx, ordered.Put)
	})
	ordered.Each(func(seg *segment) bool {
		var more bool
		if more, err = s.take(ctx, seg); !more {
			cancel()
		}
		unfinished = seg.place
		return more
	})
	planning.Wait()
	if err == nil && !s.out.IsFullHere() {
		if err = planErr; err == nil {
			err = ctx.Err()
		}
	}
	s.task.Step("verify commits", start, report.Count("commits", looked), report.Count("bytes", bytes), report.Count("workers", workers))
	return unfinished, err
}

// take sends the matches of the next segment. It reports false when no more are
// wanted, or can be had. Matches confirmed before the time was up are still
// sent; none is once the caller has gone.
func (s *search) take(ctx context.Context, seg *segment) (more bool, err error) {
	if seg.viaGit {
		seg.target.seenUnindexed += seg.looked
	} else {
		seg.target.seenIndexed += seg.looked
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return false, err
	}
	if err := s.out.Send(seg.matches); err != nil {
		return false, err
	}
	switch {
	case s.out.IsFullHere():
		return false, nil
	case seg.err == nil:
	case ctx.Err() != nil:
		return false, ctx.Err()
	case seg.viaGit:
		s.noteUnreadable(seg.target.Repository, seg.err)
	default:
		s.task.FailShard(seg.items[seg.looked%len(seg.items)].shard.view.ID, seg.err)
	}
	return true, nil
}

// keptSegments cuts the indexed commits of the targets of which the index has all, one
// after the other: a limit may keep the search from coming to most of them.
func (s *search) keptSegments(ctx context.Context, emit func(*segment) bool) error {
	for n := range s.repositories {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := s.newTarget(n)
		if !s.arrangeKept(t) {
			s.unlisted = append(s.unlisted, n)
			continue
		}
		if !s.emitIndexed(n, t, emit) {
			return nil
		}
	}
	return nil
}

// listedSegments cuts the indexed commits of the other targets, in the order in which git
// lists them.
func (s *search) listedSegments(ctx context.Context, emit func(*segment) bool) error {
	for _, n := range s.unlisted {
		t := s.newTarget(n)
		if err := s.arrangeListed(ctx, t); err != nil {
			return err
		}
		if !s.emitIndexed(n, t, emit) {
			return nil
		}
	}
	return nil
}

// emitIndexed emits the indexed commits of a target that is arranged.
func (s *search) emitIndexed(n int, t *targetCommits, emit func(*segment) bool) bool {
	s.targets[n] = t
	for items := range slices.Chunk(t.indexed, segmentCommits) {
		if !emit(&segment{target: t, place: n, items: items}) {
			return false
		}
	}
	return true
}
