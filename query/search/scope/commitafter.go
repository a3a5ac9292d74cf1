package scope

import (
	"context"
	"errors"

	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/query/search/task"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// testCommitAfter removes from targets the revisions that do not pass. One whose
// history cannot be read passes neither way, and is added to missing.
func testCommitAfter(ctx context.Context, t *task.Task, a *compile.CommitAfter, targets *target.Repositories, missing *[]*store.Repository) error {
	if a == nil {
		return nil
	}
	passes := func(repo *store.Repository, commit string) bool {
		if !repo.Indexed() || commit == "" || ctx.Err() != nil {
			return false
		}
		newer, err := hasCommitAfter(ctx, t, repo, commit, a.Seconds)
		if err != nil && ctx.Err() == nil && !t.NoteUnready(repo, err) {
			t.Note("history unreadable", t.Details(report.Text("repository", repo.Name), report.Text("error", err.Error()))...)
			*missing = append(*missing, repo)
		}
		return err == nil && newer != a.Negated
	}
	if !targets.IsLazy() {
		targets.KeepRevisions(func(repo *target.Repository, rev *target.Revision) bool { return passes(repo.Stored, rev.Commit) })
		return ctx.Err()
	}
	passed, rest := targets.IDs().Clone(), targets.IDs().Clone()
	passed.Intersect(t.Snapshot.MarkedIDs(store.MarkDated))
	rest.Subtract(passed)
	if newer := t.Snapshot.NewerIDs(a.Seconds); a.Negated {
		passed.Subtract(newer)
	} else {
		passed.Intersect(newer)
	}
	for repo := range t.Visible.In(rest) {
		if passes(repo, repo.Commit()) {
			passed.Add(repo.ID)
		}
	}
	targets.KeepIDs(passed)
	return ctx.Err()
}

// hasCommitAfter answers from the record where that knows the whole history,
// else through git.
func hasCommitAfter(ctx context.Context, t *task.Task, of *store.Repository, commit string, seconds int64) (bool, error) {
	if h := &of.History; h.Complete(commit) && h.Commits > 0 {
		return h.Newest > seconds, nil
	}
	repo, err := t.Git.Open(ctx, of)
	if err != nil {
		return false, err
	}
	release, err := t.GitSlot(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	errNewer := errors.New("newer")
	err = repo.RevList(ctx, []string{commit}, nil, func(l git.Listed) error {
		if l.Seconds > seconds {
			return errNewer
		}
		return nil
	})
	if errors.Is(err, errNewer) {
		return true, nil
	}
	return false, err
}
