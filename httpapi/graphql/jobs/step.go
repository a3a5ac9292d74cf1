package jobs

import (
	"context"
	"fmt"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/httpapi/stream/event"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/saved"
)

const (
	// heldBytes is how much of results waits in memory to be committed.
	heldBytes = 4 << 20
	// maxJobBytes is how much one job may find.
	maxJobBytes = 2 << 30
)

// step searches the next repository of a job.
func (r *Runner) step(ctx context.Context, job *saved.Job, q *query.Query, actor *auth.Actor) (*saved.Job, error) {
	at := job.Repositories[job.Done]
	done := saved.JobStep{Started: r.Now().UTC()}
	out := &lines{runner: r, job: job, encoder: event.Encoder{Chunks: true, Now: r.Now}}
	sn := r.Store.Snapshot()
	repo := sn.RepositoryByID(at)
	if err := sn.Close(); err != nil {
		return nil, err
	}
	if repo == nil || !actor.CanSee(repo) {
		done.Failure = "the repository is not there any more"
	} else {
		done.Repository = repo.Name
		results := report.New(r.Now)
		contexts := &manage.Contexts{Kept: r.kept(), Actor: actor}
		found := r.Searcher.Search(ctx, q, search.Options{
			Display: -1, Report: results, Only: at, Visible: actor.CanSee, Contexts: contexts.Resolve,
		}, out)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if out.err != nil {
			return nil, out.err
		}
		done.Matches, done.Failure = results.Progress().Matches, r.failure(job.ID, repo.Name, found, results)
	}
	done.Finished = r.Now().UTC()
	return r.Book.Jobs.AddResults(job.ID, out.held, &done)
}

// failure says what of a repository was not searched.
func (r *Runner) failure(job uint32, name string, found search.Outcome, results *report.Report) string {
	if found.Err != nil {
		r.Log.Warn().Uint32("job", job).Str("repo", name).Err(found.Err).Msg("search job")
		return "the search failed; the server's log tells why"
	}
	return results.LeftOut()
}

// lines is a sink that commits results while a repository is searched, so that
// no more than heldBytes and one match are in memory.
type lines struct {
	runner  *Runner
	job     *saved.Job
	encoder event.Encoder
	held    []byte
	total   int64
	err     error
}

// Send takes matches.
func (l *lines) Send(matches []query.Match) error {
	for _, m := range matches {
		before := len(l.held)
		l.held = append(l.encoder.Append(l.held, m), '\n')
		l.total += int64(len(l.held) - before)
		if l.job.Bytes+l.total > maxJobBytes {
			l.err = &refusal{fmt.Sprintf("the job found more than %d GiB", maxJobBytes>>30)}
			return l.err
		}
		if len(l.held) < heldBytes {
			continue
		}
		if _, l.err = l.runner.Book.Jobs.AddResults(l.job.ID, l.held, nil); l.err != nil {
			return l.err
		}
		l.held = nil
	}
	return nil
}
