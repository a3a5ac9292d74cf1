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
	targets.KeepRevisions(func(repo *target.Repository, rev *target.Revision) bool {
		if !repo.Stored.Indexed() || rev.Commit == "" || ctx.Err() != nil {
			return false
		}
		newer, err := hasCommitAfter(ctx, t, repo, rev, a.Seconds)
		if err != nil && ctx.Err() == nil && !t.NoteUnready(repo.Stored, err) {
			t.Note("history unreadable", t.Details(report.Text("repository", repo.Stored.Name), report.Text("error", err.Error()))...)
			*missing = append(*missing, repo.Stored)
		}
		return err == nil && newer != a.Negated
	})
	return ctx.Err()
}

// hasCommitAfter answers from the record where that knows the whole history,
// else through git.
func hasCommitAfter(ctx context.Context, t *task.Task, of *target.Repository, rev *target.Revision, seconds int64) (bool, error) {
	if h := &of.Stored.History; h.Complete(rev.Commit) && h.Commits > 0 {
		return h.Newest > seconds, nil
	}
	repo, err := t.Git.Open(ctx, of.Stored)
	if err != nil {
		return false, err
	}
	release, err := t.GitSlot(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	errNewer := errors.New("newer")
	err = repo.RevList(ctx, []string{rev.Commit}, nil, func(l git.Listed) error {
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
