package coverage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/shardplan"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/query/search/verify"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// MaxRows is how many revisions a search reports one by one.
const MaxRows = 256

// Ledger counts for Coverage while a search runs.
type Ledger struct {
	task    *task.Task
	queries []*target.Query

	// sources are those of the queries at hand, git the repositories whose files were read
	// through git for them. Only the goroutine of the search changes them.
	sources []target.Source
	git     map[uint32]bool

	mu sync.Mutex // guards what follows; nothing is called while it is held
	// work is by repository: nearly all are searched at one revision.
	work map[uint32]*work
	// planned are the shards whose lists were read for the queries at hand.
	planned map[uint32]bool
	// views are all shards that were planned, with their tables.
	views   map[uint32]shard.View
	endings endings
	// unsearchable counts files that were read through git, by commit and reason.
	unsearchable map[*target.Files]map[shard.Reason]int
	// commits are what searches of commits looked at, in moreCommits other repositories
	// at nothing.
	commits     []report.Coverage
	moreCommits int
	// places are the numbers of shards in the order of searches, nil until asked for.
	places map[uint32]int
}

// work is the work done in a repository.
type work struct {
	candidates, verified int
	// left counts candidates that were not tried, by reason; counted are the
	// candidates that are in it or verified.
	left    []report.Unsearched
	counted int
}

// New returns the ledger of a search of some basic queries.
func New(t *task.Task, queries []*target.Query) *Ledger {
	return &Ledger{task: t, queries: queries, work: map[uint32]*work{}, views: map[uint32]shard.View{}, unsearchable: map[*target.Files]map[shard.Reason]int{}}
}

// hidesDetails reports whether figures about candidates are hidden: lists are of all
// documents of a shard, and which of them are read depends on their lengths.
func (l *Ledger) hidesDetails() bool { return l.task.HidesDetails() }

func (l *Ledger) of(repository uint32) *work {
	w := l.work[repository]
	if w == nil {
		w = &work{}
		l.work[repository] = w
	}
	return w
}

// AddCommits adds what a search of commits looked at. In more other repositories it
// found no candidate.
func (l *Ledger) AddCommits(all []report.Coverage, more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commits = append(l.commits, all...)
	l.moreCommits += more
}

// Begin starts the search of some sources for the basic queries of one shape.
func (l *Ledger) Begin(sources []target.Source) {
	l.sources, l.git = sources, map[uint32]bool{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.planned = map[uint32]bool{}
}

// Plan counts the candidates of a source.
func (l *Ledger) Plan(p *shardplan.Plan) {
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.View.InMemory() {
		l.noText(p)
	} else {
		l.planned[p.View.ID] = true
		l.views[p.View.ID] = p.View
	}
	l.each(p, p.Candidates, func(w *work, n int) { w.candidates += n })
}

// Verify counts the documents of a segment that were tried.
func (l *Ledger) Verify(s *verify.Segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.each(s.Plan, s.Docs[:s.Verified], func(w *work, n int) { w.verified += n })
}

// each calls f with the number of documents of each repository. Documents are
// ascending, so those of one stand together.
func (l *Ledger) each(p *shardplan.Plan, docs []uint16, f func(*work, int)) {
	if len(docs) == 0 {
		return // the plan may have no table of documents
	}
	if runs := p.Docs.Runs(); len(runs) == 1 {
		f(l.of(runs[0].Repository), len(docs))
		return
	}
	for len(docs) > 0 {
		id, n := p.Docs.Repository[docs[0]], 1
		for n < len(docs) && p.Docs.Repository[docs[n]] == id {
			n++
		}
		f(l.of(id), n)
		docs = docs[n:]
	}
}

// noText counts the files without searchable content of a plan of files that were
// read through git.
func (l *Ledger) noText(p *shardplan.Plan) {
	for _, i := range p.Docs.Unsearchable() {
		for commit, files := range p.Files {
			if !files.Contains(i) {
				continue
			}
			if l.unsearchable[commit] == nil {
				l.unsearchable[commit] = map[shard.Reason]int{}
			}
			l.unsearchable[commit][p.Docs.Reason[i]]++
		}
	}
}

// ReadThroughGit records that the files of a repository were all read through git.
func (l *Ledger) ReadThroughGit(repository uint32) {
	l.git[repository] = true
}

// End ends the search for these queries, which was cut short if limit is set or err says
// so.
func (l *Ledger) End(queries []*target.Query, limit bool, err error) {
	reason := report.ReasonIndexUnreadable // what is left otherwise is what failed
	switch {
	case limit:
		reason = report.ReasonMatchLimit
	case errors.Is(err, context.DeadlineExceeded):
		reason = report.ReasonTimeout
	case err != nil:
		reason = report.ReasonStopped
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.work {
		if n := w.candidates - w.counted - w.verified; n > 0 {
			w.left = append(w.left, report.Unsearched{Reason: reason, Documents: n})
			w.counted += n
		}
	}
	l.endings = append(l.endings, ending{
		queries: queries, reason: reason, cut: limit || err != nil, sources: l.sources, planned: l.planned, git: l.git, failed: l.task.CloneFailed(),
	})
}

// Skip records queries for which the search was not begun.
func (l *Ledger) Skip(queries []*target.Query, limit bool, err error) {
	if len(queries) > 0 {
		l.Begin(nil)
		l.End(queries, limit, err)
	}
}

// revisions returns those of a repository that were searched for documents, each
// once.
func (l *Ledger) revisions(repo *store.Repository) []*target.Revision {
	var out []*target.Revision
	for _, b := range l.queries {
		t := b.Repositories.Get(repo.ID)
		if t == nil || !b.Documents {
			continue
		}
		if len(l.queries) == 1 && len(t.Revisions) == 1 {
			return t.Revisions
		}
		for _, rev := range t.Revisions {
			if !slices.ContainsFunc(out, func(o *target.Revision) bool { return o.Typed == rev.Typed && o.Commit == rev.Commit }) {
				out = append(out, rev)
			}
		}
	}
	return out
}

// cover returns the coverage of one revision.
func (l *Ledger) cover(repo *store.Repository, rev *target.Revision) report.Coverage {
	out := report.Coverage{Repository: repo.Name, Revision: rev.Typed, Commit: rev.Commit, Candidates: -1, Verified: -1}
	w := l.work[repo.ID]
	if w == nil {
		w = &work{}
	}
	if !l.hidesDetails() {
		out.Candidates, out.Verified = w.candidates, w.verified
	}
	left := map[string]int{}
	if l.hidesDetails() {
		if reason := l.endings.whyCut(repo.ID); reason != "" {
			left[reason] = 0
		}
	} else {
		for _, u := range w.left {
			left[u.Reason] += u.Documents
		}
	}
	if !repo.Indexed() {
		switch reason := target.WhyNotIndexed(repo); reason {
		case report.ReasonMissing:
			left = map[string]int{report.ReasonMissing: 0}
		default:
			left[reason] = 0
		}
	}
	l.coverShards(&out, repo, rev, left)
	if rev.Files != nil {
		out.Documents += len(rev.Files.Unindexed)
		for reason, n := range l.unsearchable[rev.Files] {
			left[reason.String()] += n
		}
		if reason := l.endings.whyUnread(repo.ID); reason != "" {
			left[reason] += len(rev.Files.Unindexed)
		}
	}
	for _, reason := range l.task.WhyUnread(repo) {
		left[reason] += 0
	}
	for reason, n := range left {
		out.Unsearched = append(out.Unsearched, report.Unsearched{Reason: reason, Documents: n})
	}
	slices.SortFunc(out.Unsearched, func(a, b report.Unsearched) int { return strings.Compare(a.Reason, b.Reason) })
	return out
}

// coverShards counts the documents of a revision in shards. It does not read a
// shard that the search did not look at if the record of the repository has the
// count: the remaining documents are in that shard. Nor does it read a shard
// that could not be reached in time.
func (l *Ledger) coverShards(out *report.Coverage, repo *store.Repository, rev *target.Revision, left map[string]int) {
	known, unread := 0, ""
	counted := len(repo.Branches) == 1 && rev.Branch == 0
	for _, id := range l.inOrder(repo.Shards) {
		v, ok := l.task.Snapshot.Shard(id)
		if !ok || !rev.MayBeIn(id) {
			continue
		}
		reason := l.endings.whyUnsearched(repo.ID, id)
		if reason == "" && l.task.HasFailed(v.ID) {
			left[report.ReasonIndexUnreadable] += 0 // some of it, how much is not counted
		}
		view, looked := l.views[v.ID]
		if !looked && !counted && reason == report.ReasonMatchLimit {
			view, looked = v, true
		}
		if !looked {
			unread = cmp.Or(reason, report.ReasonIndexUnreadable)
			continue
		}
		n := l.coverShard(view, repo, rev, left)
		known += n
		if reason != "" {
			left[reason] += n
		} else if !v.HasSymbols() && l.symbols() {
			left[report.ReasonSymbolsMissing] += n
		}
	}
	out.Documents = known
	if unread != "" {
		if counted {
			out.Documents = max(known, repo.Documents)
		}
		left[unread] += out.Documents - known
	}
}

// symbols reports whether names of symbols were searched for.
func (l *Ledger) symbols() bool {
	return slices.ContainsFunc(l.queries, func(b *target.Query) bool { return b.InSymbols })
}

// coverShard returns how many documents of the revision a shard has, and counts
// those without searchable content.
func (l *Ledger) coverShard(v shard.View, repo *store.Repository, rev *target.Revision, left map[string]int) (n int) {
	if reasons, ok := l.byHeader(v, repo, rev); ok {
		for reason, count := range reasons {
			n += count
			if why := shard.Reason(reason); why != shard.Searchable && count > 0 {
				left[why.String()] += count
			}
		}
		return n
	}
	docs, err := v.Documents()
	if err != nil {
		return 0
	}
	held := rev.In(v, repo.ID)
	unsearchable := docs.Unsearchable()
	for run := range docs.RunsOf(repo.ID) {
		n += held.Count(run.First, run.End)
		first, _ := slices.BinarySearch(unsearchable, uint16(run.First))
		for _, i := range unsearchable[first:] {
			if int(i) >= run.End {
				break
			}
			if held.Contains(i) {
				left[docs.Reason[i].String()]++
			}
		}
	}
	return n
}

// byHeader returns how many documents of a revision a shard has, by reason, if it has no
// others: then its header says so, and its table of documents need not be read.
func (l *Ledger) byHeader(v shard.View, repo *store.Repository, rev *target.Revision) (reasons []int, ok bool) {
	if v.Header.Reasons == nil || !(target.ByRevision{rev.In(v, repo.ID)}).HoldsAll() {
		return nil, false
	}
	for id := range l.task.Snapshot.ShardRepositories(v.ID) {
		if id != repo.ID {
			return nil, false
		}
	}
	return v.Header.Reasons, true
}

// inOrder returns some shards in the order in which searches visit them.
func (l *Ledger) inOrder(shards []uint32) []uint32 {
	if len(shards) < 2 {
		return shards
	}
	if l.places == nil {
		l.places = map[uint32]int{}
		for id := range l.task.Snapshot.ShardIDs() {
			l.places[id] = len(l.places)
		}
	}
	return slices.SortedFunc(slices.Values(shards), func(a, b uint32) int { return cmp.Compare(l.places[a], l.places[b]) })
}
