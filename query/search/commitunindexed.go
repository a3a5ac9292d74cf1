package search

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// commitsLeft is what a search of commits did not look at.
type commitsLeft struct {
	// unindexed counts the commits that git was to be asked for and was not.
	unindexed int
	// unlisted are names of repositories with more commits than are kept, of
	// which git did not tell in time; unread those of which not all commits
	// that should be are kept yet; unreadable those that git could not read.
	unlisted, unread, unreadable report.NameSet
	// unsearchable counts files whose diff is too large to be kept, or damaged.
	unsearchable int
}

// kept finds the commits of a target that the index has, by object id. Those
// that are no candidates have no shard.
func (c *commitSearch) kept(t *target) map[string]commitItem {
	out := map[string]commitItem{}
	if c.q.index == query.No {
		return out
	}
	for _, id := range t.stored.History.Shards {
		p := c.shards[id]
		if p == nil {
			continue
		}
		for i := range p.table.Len() {
			if p.table.Repository[i] == t.stored.ID {
				out[string(p.table.OID(i))] = commitItem{}
			}
		}
		for _, i := range p.candidates {
			if p.table.Repository[i] == t.stored.ID {
				out[string(p.table.OID(int(i)))] = commitItem{shard: p, commit: i}
			}
		}
	}
	return out
}

// list returns the commits of a target as git lists them: candidates of the
// index, and those that it does not have.
func (c *commitSearch) list(ctx context.Context, t *target) ([]commitItem, error) {
	repo, err := c.open(ctx, t.stored)
	if err != nil {
		return nil, err
	}
	release, err := c.takeSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	kept := c.kept(t)
	from := make([]string, len(t.revs))
	for i, rev := range t.revs {
		from[i] = rev.commit
	}
	var out []commitItem
	c.total[t] = 0
	err = repo.RevList(ctx, from, t.not, func(l git.Listed) error {
		c.total[t]++
		oid, err := hex.DecodeString(l.OID)
		if err != nil {
			return err
		}
		it, known := kept[string(oid)]
		switch {
		case !known && c.q.dated(l.Seconds) && (!c.q.diff || len(l.Parents) < 2):
			out = append(out, commitItem{oid: l.OID})
		case it.shard != nil:
			out = append(out, it)
		}
		return nil
	})
	return out, err
}

// unindexedSegments cuts the commits that git is asked for, and lists those that are
// not kept.
func (c *commitSearch) unindexedSegments(ctx context.Context, emit func(*commitSegment) bool) error {
	for _, t := range c.targets {
		if slices.Contains(c.unlisted, t) {
			listed, err := c.list(ctx, t)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				c.noteUnreadable(t, err)
			}
			_, c.unindexed[t] = c.divide(listed)
			c.unlisted = slices.DeleteFunc(c.unlisted, func(u *target) bool { return u == t })
		}
		for items := range slices.Chunk(c.unindexed[t], segmentLogged) {
			if !emit(&commitSegment{target: t, items: items, viaGit: true}) {
				return nil
			}
		}
	}
	return nil
}

func (c *commitSearch) noteUnreadable(t *target, err error) {
	if c.noteGitBusy(t.stored, err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.left.unreadable.Names, t.stored.Name) {
		c.o.Trace.Add(report.Step{Name: "history unreadable", Start: c.set.Now().Sub(c.start), Fields: c.work(report.Text("repository", t.stored.Name), report.Text("error", err.Error()))})
	}
	c.left.unreadable.Add([]string{t.stored.Name})
}

// unsearchable counts files of wanted commits whose diff cannot be searched,
// and files that are not known.
func (p *commitShard) unsearchable(q *commitQuery) int {
	if !q.diff {
		return 0
	}
	n := 0
	for i, more := range p.table.MoreFiles {
		if more > 0 && q.targets[p.table.Repository[i]] != nil && !p.dead(i) && q.dated(p.table.CommitterSeconds[i]) {
			n += int(more)
		}
	}
	for d, reason := range p.docs.Reason {
		if reason != store.ReasonTooLarge && reason != store.ReasonCorrupt {
			continue
		}
		i := p.table.Of(uint16(d))
		t := q.targets[p.table.Repository[i]]
		if t != nil && !p.dead(i) && q.dated(p.table.CommitterSeconds[i]) && q.pathsHold(t, p.docs.Path(d), p.table.OldPath(d)) {
			n++
		}
	}
	return n
}

func (p *commitShard) dead(i int) bool {
	return p.view.Dead != nil && p.view.Dead.Contains(uint16(p.table.Message[i]))
}

// reportTargets records that targets were not finished in time.
func (c *commitSearch) reportTargets(err error, targets []*target) {
	if c.out.err != nil || !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	var repos []*store.Repository
	for _, t := range targets {
		repos = append(repos, t.stored)
	}
	c.named = c.named || len(repos) > 0
	c.o.Report.Gaps().TimedOut(namesByID(repos))
}

// reportCommits records the targets of searches of commits that were not begun in
// time.
func (r *run) reportCommits(err error, basics []*basic) {
	for _, b := range basics {
		if b.commits != nil {
			c := &commitSearch{run: r}
			c.reportTargets(err, slices.Collect(maps.Values(b.targets)))
		}
	}
}

// reportLeft says what was not looked at.
func (c *commitSearch) reportLeft(err error) {
	l := &c.left
	for _, t := range c.targets {
		l.unindexed += len(c.unindexed[t]) - c.seen[t].unindexed
	}
	timedOut := errors.Is(err, context.DeadlineExceeded)
	if timedOut {
		for _, t := range c.unlisted {
			l.unlisted.Add([]string{t.stored.Name})
		}
		for _, t := range c.targets {
			if h := &t.stored.History; h.Tip == "" || h.Reading != "" {
				l.unread.Add([]string{t.stored.Name})
			}
		}
	}
	if timedOut {
		c.o.Report.Gaps().OlderCommits(l.unindexed, l.unlisted.Len() > 0)
		c.o.Report.Gaps().HistoriesMissing(l.unread.Names)
	}
	c.o.Report.Gaps().HistoriesUnreadable(l.unreadable.Names)
	c.o.Report.Gaps().DiffsTooLarge(l.unsearchable)
}
