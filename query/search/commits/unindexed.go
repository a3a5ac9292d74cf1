package commits

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/shard"
)

// unsearched counts the commits that a search skipped.
type unsearched struct {
	// unindexed counts the commits that git was to be asked for and was not.
	unindexed int
	// unread are names of repositories whose commits are not all indexed yet;
	// unreadable those that git could not read.
	unread, unreadable report.NameSet
	// unsearchable counts files whose diff is too large to be kept, or damaged.
	unsearchable int
}

// kept finds the commits of a target that the index has, by object id. Those
// that are no candidates have no shard.
func (s *search) kept(t *target.Repository) map[string]item {
	out := map[string]item{}
	if s.q.Index == query.No {
		return out
	}
	for _, id := range t.Stored.History.Shards {
		p := s.shards[id]
		if p == nil {
			continue
		}
		for i := range p.table.Len() {
			if p.table.Repository[i] == t.Stored.ID {
				out[string(p.table.OID(i))] = item{}
			}
		}
		for i := range p.of(t.Stored.ID) {
			out[string(p.table.OID(int(i)))] = item{shard: p, commit: i}
		}
	}
	return out
}

// list returns the commits of a target as git lists them: candidates of the
// index, and those that it does not have.
func (s *search) list(ctx context.Context, t *targetCommits) ([]item, error) {
	repo, err := s.task.Git.Open(ctx, t.Stored)
	if err != nil {
		return nil, err
	}
	release, err := s.task.GitSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	kept := s.kept(t.Repository)
	from := make([]string, len(t.Revisions))
	for i, rev := range t.Revisions {
		from[i] = rev.Commit
	}
	var out []item
	t.listed = 0
	err = repo.RevList(ctx, from, t.Excluded, func(l git.Listed) error {
		t.listed++
		oid, err := hex.DecodeString(l.OID)
		if err != nil {
			return err
		}
		it, known := kept[string(oid)]
		switch {
		case !known && s.q.Dated(l.Seconds) && (!s.q.Diff || len(l.Parents) < 2):
			out = append(out, item{oid: l.OID})
		case it.shard != nil:
			out = append(out, it)
		}
		return nil
	})
	return out, err
}

// unindexedSegments cuts the commits that git is asked for, and lists those that are
// not kept.
func (s *search) unindexedSegments(ctx context.Context, emit func(*segment) bool) error {
	for n, t := range s.targets {
		if t.isUnlisted {
			listed, err := s.list(ctx, t)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				s.noteUnreadable(t.Repository, err)
			}
			_, t.unindexed = s.divide(listed)
			t.isUnlisted = false
		}
		for items := range slices.Chunk(t.unindexed, segmentLogged) {
			if !emit(&segment{target: t, place: n, items: items, viaGit: true}) {
				return nil
			}
		}
	}
	return nil
}

func (s *search) noteUnreadable(t *target.Repository, err error) {
	if s.task.NoteUnready(t.Stored, err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left.unreadable.Has(t.Stored.Name) {
		s.task.Note("history unreadable", s.task.Details(report.Text("repository", t.Stored.Name), report.Text("error", err.Error()))...)
	}
	s.left.unreadable.Add([]string{t.Stored.Name})
}

// unsearchable counts files of wanted commits whose diff cannot be searched,
// and files that are not known.
func (p *shardPlan) unsearchable(q *commitQuery) int {
	if !q.Diff {
		return 0
	}
	n := 0
	for i, more := range p.table.MoreFiles {
		if more > 0 && q.Repositories.Get(p.table.Repository[i]) != nil && !p.dead(i) && q.Dated(p.table.CommitterSeconds[i]) {
			n += int(more)
		}
	}
	for d, reason := range p.docs.Reason {
		if reason != shard.ReasonTooLarge && reason != shard.ReasonCorrupt {
			continue
		}
		i := p.table.Of(uint16(d))
		t := q.Repositories.Get(p.table.Repository[i])
		if t != nil && !p.dead(i) && q.Dated(p.table.CommitterSeconds[i]) && q.pathsHold(t, p.docs.Path(d), p.table.OldPath(d)) {
			n++
		}
	}
	return n
}

func (p *shardPlan) dead(i int) bool {
	return p.view.Dead != nil && p.view.Dead.Contains(uint16(p.table.Message[i]))
}

// reportTargets records that targets were not finished in time. The slice is the caller's no
// more.
func (s *search) reportTargets(err error, targets []*store.Repository) {
	if s.out.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s.task.ReportTimedOut(targets)
}

// ReportTimedOut records the targets of searches of commits that were not begun in
// time.
func (r *Runner) ReportTimedOut(err error, basics []*target.Query) {
	if r.Out.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	for _, b := range basics {
		if b.Commits != nil {
			r.Task.ReportTimedOut(slices.Collect(b.Repositories.Listed()))
		}
	}
}

// reportLeft reports the skipped commits.
func (s *search) reportLeft(err error) {
	l := &s.left
	if errors.Is(err, context.DeadlineExceeded) {
		unlisted := false
		for n, repo := range s.repositories {
			t := s.targetOf(n)
			l.unindexed += len(t.unindexed) - t.seenUnindexed
			unlisted = unlisted || t.isUnlisted
			if h := &repo.History; h.Tip == "" || h.Reading != "" {
				l.unread.Add([]string{repo.Name})
			}
		}
		s.task.Report.Skips().Add(report.OlderCommits(l.unindexed, unlisted))
		s.task.Report.Skips().Add(report.HistoriesMissing(l.unread.Names))
	}
	s.task.Report.Skips().Add(report.HistoriesUnreadable(l.unreadable.Names))
	s.task.Report.Skips().Add(report.DiffsTooLarge(l.unsearchable))
}
