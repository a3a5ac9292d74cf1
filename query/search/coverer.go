package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// maxCoverage is how many revisions a search reports one by one.
const maxCoverage = 256

// coverer counts for Coverage while a search runs.
type coverer struct {
	run *run

	mu sync.Mutex // guards what follows; nothing is called while it is held
	// work is by repository: nearly all are searched at one revision.
	work map[uint32]*work
	// planned are the shards and git the repositories whose lists or files the
	// pass at hand has read.
	planned, git map[uint32]bool
	// views are all shards that were planned, with their tables.
	views map[uint32]store.View
	// unsearchable counts files that were read through git, by commit and reason.
	unsearchable map[*contents]map[store.Reason]int
	// commits are what searches of commits looked at.
	commits []report.Coverage
}

// work is what was done of a repository.
type work struct {
	candidates, verified int
	// left counts candidates that were not tried, by reason; counted are the
	// candidates that are in it or verified.
	left    map[string]int
	counted int
	// cut is why a pass did not get to its end.
	cut string
	// unsearched are shards that were not searched, and why; 0 stands for files that
	// would have been read through git.
	unsearched map[uint32]string
}

func newCoverer(r *run) *coverer {
	return &coverer{run: r, work: map[uint32]*work{}, views: map[uint32]store.View{}, unsearchable: map[*contents]map[store.Reason]int{}}
}

// guarded reports whether figures about candidates are hidden: lists are of all
// documents of a shard, and which of them are read depends on their lengths.
func (c *coverer) guarded() bool { return c.run.o.Visible != nil }

func (c *coverer) of(repository uint32) *work {
	w := c.work[repository]
	if w == nil {
		w = &work{left: map[string]int{}, unsearched: map[uint32]string{}}
		c.work[repository] = w
	}
	return w
}

// addCommits adds what a search of commits looked at.
func (c *coverer) addCommits(all []report.Coverage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commits = append(c.commits, all...)
}

// begin starts a pass.
func (c *coverer) begin() {
	c.planned, c.git = map[uint32]bool{}, map[uint32]bool{}
}

// plan counts the candidates of a source.
func (c *coverer) plan(p *shardPlan) {
	if p == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.view.InMemory() {
		c.planned[p.view.ID] = true
		c.views[p.view.ID] = p.view
	}
	c.each(p, p.candidates, func(w *work, n int) { w.candidates += n })
}

// verify counts the documents of a segment that were tried.
func (c *coverer) verify(s *segment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each(s.plan, s.docs[:s.verified], func(w *work, n int) { w.verified += n })
}

// each calls f with the number of documents of each repository. Documents are
// ascending, so those of one stand together.
func (c *coverer) each(p *shardPlan, docs []uint16, f func(*work, int)) {
	if runs := p.docs.Runs(); len(runs) == 1 && len(docs) > 0 {
		f(c.of(runs[0].Repository), len(docs))
		return
	}
	for len(docs) > 0 {
		id, n := p.docs.Repository[docs[0]], 1
		for n < len(docs) && p.docs.Repository[docs[n]] == id {
			n++
		}
		f(c.of(id), n)
		docs = docs[n:]
	}
}

// file counts a file without searchable content that was read through git.
func (c *coverer) file(of []*contents, reason store.Reason) {
	if reason == store.Searchable {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, commit := range of {
		if c.unsearchable[commit] == nil {
			c.unsearchable[commit] = map[store.Reason]int{}
		}
		c.unsearchable[commit][reason]++
	}
}

// wholly records that the files of a repository were all read through git.
func (c *coverer) wholly(repository uint32) {
	c.git[repository] = true
}

// end ends a pass, which was cut short if limit is set or err says so.
func (c *coverer) end(pass []*basic, limit bool, err error) {
	reason := report.ReasonIndexUnreadable // what is left otherwise is what failed
	switch {
	case limit:
		reason = report.ReasonMatchLimit
	case errors.Is(err, context.DeadlineExceeded):
		reason = report.ReasonTimeout
	case err != nil:
		reason = report.ReasonStopped
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.work {
		if n := w.candidates - w.counted - w.verified; n > 0 {
			w.left[reason] += n
			w.counted += n
		}
	}
	for _, b := range pass {
		for id, t := range b.targets {
			if c.guarded() && (limit || err != nil) {
				c.of(id).cut = reason
			}
			for _, shard := range t.stored.Shards {
				switch {
				case c.planned[shard] || !t.reaches(shard):
				case c.run.failed[shard]:
					c.of(id).unsearched[shard] = report.ReasonIndexUnreadable
				default:
					c.of(id).unsearched[shard] = reason
				}
			}
			if !c.git[id] && slices.ContainsFunc(t.revs, func(rev *revision) bool { return rev.contents != nil && len(rev.contents.rest) > 0 }) {
				c.of(id).unsearched[0] = reason
			}
		}
	}
}

// skip records a pass that was not begun.
func (c *coverer) skip(pass []*basic, limit bool, err error) {
	if len(pass) > 0 {
		c.begin()
		c.end(pass, limit, err)
	}
}

// report puts all of it into the trace.
func (c *coverer) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []report.Coverage
	var rest report.Rest
	for _, repo := range c.ordered() {
		for _, rev := range c.revisions(repo) {
			if len(out) < maxCoverage {
				out = append(out, c.cover(repo, rev))
				continue
			}
			rest.Repositories++
			rest.Documents += repo.Documents
			rest.Unsearchable += repo.Skipped
			break
		}
	}
	for _, of := range c.commits {
		if len(out) < maxCoverage {
			out = append(out, of)
			continue
		}
		rest.Repositories++
	}
	c.run.o.Trace.Cover(out, rest)
}

// ordered returns the repositories that were searched: those with candidates, or
// with anything left, first.
func (c *coverer) ordered() []*store.Repository {
	searched := slices.DeleteFunc(slices.Clone(c.run.repos), func(repo *store.Repository) bool {
		return !slices.ContainsFunc(c.run.basics, func(b *basic) bool { return b.docs && b.targets[repo.ID] != nil })
	})
	if c.guarded() {
		return searched
	}
	slices.SortStableFunc(searched, func(a, b *store.Repository) int {
		return cmp.Compare(boolToInt(c.work[a.ID] == nil), boolToInt(c.work[b.ID] == nil))
	})
	return searched
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// revisions returns those of a repository that were searched for documents, each
// once.
func (c *coverer) revisions(repo *store.Repository) []*revision {
	var out []*revision
	for _, b := range c.run.basics {
		t := b.targets[repo.ID]
		if t == nil || !b.docs {
			continue
		}
		for _, rev := range t.revs {
			if !slices.ContainsFunc(out, func(o *revision) bool { return o.typed == rev.typed && o.commit == rev.commit }) {
				out = append(out, rev)
			}
		}
	}
	return out
}

// cover returns the coverage of one revision.
func (c *coverer) cover(repo *store.Repository, rev *revision) report.Coverage {
	out := report.Coverage{Repository: repo.Name, Revision: rev.typed, Commit: rev.commit, Candidates: -1, Verified: -1}
	w := c.work[repo.ID]
	if w == nil {
		w = &work{}
	}
	if !c.guarded() {
		out.Candidates, out.Verified = w.candidates, w.verified
	}
	left := map[string]int{}
	if c.guarded() {
		if w.cut != "" {
			left[w.cut] = 0
		}
	} else {
		maps.Copy(left, w.left)
	}
	if !repo.Indexed() {
		switch reason := unreadyBecause(repo); reason {
		case report.ReasonMissing:
			left = map[string]int{report.ReasonMissing: 0}
		default:
			left[reason] = 0
		}
	}
	c.coverShards(&out, repo, rev, w, left)
	if rev.contents != nil {
		out.Documents += len(rev.contents.rest)
		for reason, n := range c.unsearchable[rev.contents] {
			left[reason.String()] += n
		}
		if reason := w.unsearched[0]; reason != "" {
			left[reason] += len(rev.contents.rest)
		}
	}
	if slices.Contains(c.run.unreachable, repo) {
		left[report.ReasonMissing] += 0
	}
	if slices.Contains(c.run.gitBusy, repo) {
		left[report.ReasonGitBusy] += 0
	}
	for reason, n := range left {
		out.Unsearched = append(out.Unsearched, report.Gap{Reason: reason, Documents: n})
	}
	slices.SortFunc(out.Unsearched, func(a, b report.Gap) int { return strings.Compare(a.Reason, b.Reason) })
	return out
}

// coverShards counts the documents of a revision in shards. A shard that was not
// looked at is not read for that, where the record of the repository tells: what
// that has more than the others is in it. Nor is one that could not be reached in
// time.
func (c *coverer) coverShards(out *report.Coverage, repo *store.Repository, rev *revision, w *work, left map[string]int) {
	known, unread := 0, ""
	counted := len(repo.Branches) == 1 && rev.branch == 0
	for _, v := range c.run.snap.Shards() {
		if !slices.Contains(repo.Shards, v.ID) || !rev.reaches(v.ID) {
			continue
		}
		reason := w.unsearched[v.ID]
		if reason == "" && c.run.failed[v.ID] {
			left[report.ReasonIndexUnreadable] += 0 // some of it, how much is not counted
		}
		view, looked := c.views[v.ID]
		if !looked && !counted && reason == report.ReasonMatchLimit {
			view, looked = v, true
		}
		if !looked {
			unread = cmp.Or(reason, report.ReasonIndexUnreadable)
			continue
		}
		n := c.coverShard(view, repo, rev, left)
		known += n
		if reason != "" {
			left[reason] += n
		} else if !v.HasSymbols() && c.symbols() {
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
func (c *coverer) symbols() bool {
	return slices.ContainsFunc(c.run.basics, func(b *basic) bool { return b.symbols })
}

// coverShard returns how many documents of the revision a shard has, and counts
// those without searchable content.
func (c *coverer) coverShard(v store.View, repo *store.Repository, rev *revision, left map[string]int) (n int) {
	docs, err := v.Documents()
	if err != nil {
		return 0
	}
	held := (&shardPlan{view: v, docs: docs}).reachOf(&target{stored: repo, revs: []*revision{rev}})[0]
	for _, run := range docs.Runs() {
		if run.Repository == repo.ID {
			n += held.count(run.First, run.End)
		}
	}
	for _, i := range docs.Unsearchable() {
		if docs.Repository[i] == repo.ID && held.contains(i) {
			left[docs.Reason[i].String()]++
		}
	}
	return n
}

// count returns how many documents from first up to but not including end are
// in s.
func (s docSet) count(first, end int) int {
	if s.listed {
		if s.in == nil {
			return 0
		}
		return len(s.in.AppendRange(nil, first, end))
	}
	n := end - first
	if s.dead != nil {
		n -= len(s.dead.AppendRange(nil, first, end))
	}
	if s.excluded != nil {
		for _, i := range s.excluded.AppendRange(nil, first, end) {
			if s.dead == nil || !s.dead.Contains(i) {
				n--
			}
		}
	}
	return n
}
