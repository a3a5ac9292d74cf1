package scope

import (
	"context"
	"errors"

	"github.com/trawlsearch/trawl/query/search/compile"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/search/target"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// testCommitAfter takes from targets the revisions that do not pass. One whose
// history cannot be read passes neither way, and is added to missing.
func (r *Scope) testCommitAfter(ctx context.Context, a *compile.CommitAfter, targets *target.Set, missing *[]*store.Repository) error {
	if a == nil {
		return nil
	}
	targets.KeepRevisions(func(t *target.Repository, rev *target.Revision) bool {
		if !t.Stored.Indexed() || rev.Commit == "" || ctx.Err() != nil {
			return false
		}
		newer, err := r.hasCommitAfter(ctx, t, rev, a.Seconds)
		if err != nil && ctx.Err() == nil && !r.NoteUnready(t.Stored, err) {
			r.Note("history unreadable", r.Guarded(report.Text("repository", t.Stored.Name), report.Text("error", err.Error()))...)
			*missing = append(*missing, t.Stored)
		}
		return err == nil && newer != a.Negated
	})
	return ctx.Err()
}

// hasCommitAfter answers from the record where that knows the whole history,
// else through git.
func (r *Scope) hasCommitAfter(ctx context.Context, t *target.Repository, rev *target.Revision, seconds int64) (bool, error) {
	if h := &t.Stored.History; h.Complete(rev.Commit) && h.Commits > 0 {
		return h.Newest > seconds, nil
	}
	repo, err := r.Git.Open(ctx, t.Stored)
	if err != nil {
		return false, err
	}
	release, err := r.GitSlot(ctx)
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
