package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/date"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
)

// commitAfter asks of a repository whether it has a commit after a moment, by
// the committer's date.
type commitAfter struct {
	seconds int64
	negated bool
}

// newCommitAfter returns the last such filter of a basic query, nil if it has
// none.
func newCommitAfter(b query.Basic, now time.Time) (*commitAfter, error) {
	var out *commitAfter
	for _, f := range b.Filters {
		text := f.Value
		switch {
		case f.Field == "repohascommitafter":
		case f.Field == "repo" && f.Predicate != nil && (f.Predicate.Name == "has.commit.after" || f.Predicate.Name == "contains.commit.after"):
			text = f.Predicate.Arg
		default:
			continue
		}
		t, err := date.Parse(text, now)
		if err != nil {
			return nil, &query.SyntaxError{Message: fmt.Sprintf("filter has commit after: invalid time ref: %v", err), Span: f.Span}
		}
		out = &commitAfter{t.Unix(), f.Negated}
	}
	return out, nil
}

// testCommitAfter takes from targets the revisions that do not pass. One whose
// history cannot be read passes neither way, and is added to missing.
func (r *run) testCommitAfter(ctx context.Context, a *commitAfter, targets map[uint32]*target, missing *[]*store.Repository) error {
	if a == nil {
		return nil
	}
	keepRevisions(targets, func(t *target, rev *revision) bool {
		if !t.stored.Indexed() || rev.commit == "" || ctx.Err() != nil {
			return false
		}
		newer, err := r.hasCommitAfter(ctx, t, rev, a.seconds)
		if err != nil && ctx.Err() == nil {
			r.o.Trace.Add(report.Step{Name: "history unreadable", Start: r.set.Now().Sub(r.start), Fields: r.work(report.Text("repository", t.stored.Name), report.Text("error", err.Error()))})
			*missing = append(*missing, t.stored)
		}
		return err == nil && newer != a.negated
	})
	return ctx.Err()
}

// hasCommitAfter answers from the record where that knows the whole history,
// else through git.
func (r *run) hasCommitAfter(ctx context.Context, t *target, rev *revision, seconds int64) (bool, error) {
	if h := &t.stored.History; h.Complete(rev.commit) && h.Commits > 0 {
		return h.Newest > seconds, nil
	}
	release, err := r.takeSlot(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	repo, err := r.open(ctx, t.stored)
	if err != nil {
		return false, err
	}
	errNewer := errors.New("newer")
	err = repo.RevList(ctx, []string{rev.commit}, nil, func(l git.Listed) error {
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
