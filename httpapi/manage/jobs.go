package manage

import (
	"errors"
	"slices"
	"strings"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store/saved"
)

// Jobs are the search jobs of an actor: their own and, for site admins, all.
type Jobs struct {
	*Kept
	Actor *auth.Actor
}

// What one user may keep: so many jobs, and so much of what they found.
const (
	maxJobs     = 100
	maxJobBytes = 8 << 30
)

// ErrNoJob says that there is no such search job, or none that the actor may know of.
const ErrNoJob = notFound("search job not found")

// ErrOldJob says of a job of an older version that its results cannot be told apart by
// repository, and that some of these are hidden from the actor.
var ErrOldJob = errors.New("some of what this search job found is hidden from you now, and an older version kept it in one piece: run the search again")

func (j *Jobs) sees(v *saved.Job) bool { return j.Actor.IsOrAdministers(v.Creator) }

// Each calls f with the search jobs of the actor by ID.
func (j *Jobs) Each(f func(*saved.Job)) error {
	if err := auth.RequireSignedIn(j.Actor); err != nil {
		return err
	}
	return j.Book.Jobs.Each(func(v *saved.Job) {
		if j.sees(v) {
			f(v)
		}
	})
}

// Find returns a search job. The error is ErrNoJob for one that the actor may not see.
func (j *Jobs) Find(id uint32) (*saved.Job, error) {
	v, err := j.Book.Jobs.Get(id)
	if isNotFound(err) || err == nil && !j.sees(v) {
		return nil, ErrNoJob
	}
	return v, err
}

// ParseJob reads and judges the query of a job. An error that is meant for people
// says what is wrong with it.
func ParseJob(text string) (*query.Query, error) {
	return parseWhole(text, "a search job finds everything")
}

// parseWhole reads a query that is to find everything, for a reason that its user is told.
func parseWhole(text, reason string) (*query.Query, error) {
	q, err := syntax.Parse(text, query.Standard)
	if err != nil {
		return nil, err
	}
	for _, b := range q.Basics {
		if b.Value("count") != "" || b.Value("timeout") != "" {
			return nil, &query.SyntaxError{Message: reason + ": leave out count: and timeout:"}
		}
	}
	return syntax.Parse(syntax.WithFilter(text, "count", "all"), query.Standard)
}

// Check refuses a query that cannot be a job.
func (j *Jobs) Check(query string) error {
	if strings.TrimSpace(query) == "" {
		return refuse("the query is empty")
	}
	if len(query) > MaxSavedBytes {
		return refuse("a query has at most %d bytes", MaxSavedBytes)
	}
	if _, err := ParseJob(query); err != nil {
		return refuse("%s", err.Error())
	}
	return nil
}

// Create queues a search.
func (j *Jobs) Create(query string) (*saved.Job, error) {
	if err := auth.RequireSignedIn(j.Actor); err != nil {
		return nil, err
	}
	if err := j.Check(query); err != nil {
		return nil, err
	}
	creator, n, bytes := j.Actor.UserID(), 0, int64(0)
	err := j.Book.Jobs.Each(func(v *saved.Job) {
		if v.Creator == creator {
			n++
			bytes += v.Bytes
		}
	})
	switch {
	case err != nil:
		return nil, err
	case n >= maxJobs:
		return nil, refuse("you have %d search jobs: delete some of them first", n)
	case bytes >= maxJobBytes:
		return nil, refuse("your search jobs hold %d GiB: delete some of them first", bytes>>30)
	}
	return j.Book.Jobs.Add(query, creator)
}

// Cancel ends a job; one that is over stays as it is.
func (j *Jobs) Cancel(id uint32) error {
	if _, err := j.Find(id); err != nil {
		return err
	}
	_, err := j.Book.Jobs.Change(id, func(v *saved.Job) {
		v.State, v.Finished = saved.JobCanceled, j.Now().UTC()
	})
	j.ended(id)
	if errors.Is(err, saved.ErrConflict) {
		err = nil
	}
	return err
}

// Delete forgets a job and what it found.
func (j *Jobs) Delete(id uint32) error {
	if _, err := j.Find(id); err != nil {
		return err
	}
	err := j.Book.Jobs.Remove(id)
	j.ended(id)
	return err
}

func (j *Jobs) ended(id uint32) {
	if j.Cancelled != nil {
		j.Cancelled(id)
	}
}

// Found is what a search job found, as far as the actor may see it at the time:
// readers may have changed since the job ran.
type Found struct {
	Job   *saved.Job
	Steps []*saved.JobStep
	// visible tells for each repository of the job whether the actor may see it.
	visible []bool
	all     bool
}

// Found reads the steps of a job, and the present readers.
func (j *Jobs) Found(job *saved.Job) (*Found, error) {
	f := &Found{Job: job, all: j.Actor.SeesAll()}
	var err error
	if f.Steps, err = j.Book.Jobs.Steps(job.ID); err != nil {
		return nil, err
	}
	sn := j.Store.Snapshot()
	for _, id := range job.Repositories {
		r := sn.RepositoryByID(id)
		f.visible = append(f.visible, f.all || r != nil && j.Actor.CanSee(r))
	}
	return f, sn.Close()
}

// Sees reports whether the actor may see the nth repository of the job.
func (f *Found) Sees(n int) bool { return n < len(f.visible) && f.visible[n] || f.all }

// Shown are the steps that the actor may see; leftOut counts the others.
func (f *Found) Shown() (steps []*saved.JobStep, leftOut int) {
	for n, s := range f.Steps {
		if s.Repository == "" || f.Sees(n) {
			steps = append(steps, s)
		} else {
			leftOut++
		}
	}
	return steps, leftOut
}

// Parts are those of the results that the actor may see. leftOut counts the
// repositories whose results they may not.
func (f *Found) Parts() (parts []uint32, leftOut int, err error) {
	from := uint32(0)
	take := func(to uint32, sees bool) {
		if from < to && !sees {
			leftOut++
		}
		for ; from < to; from++ {
			if sees {
				parts = append(parts, from)
			}
		}
	}
	if slices.ContainsFunc(f.Steps, func(s *saved.JobStep) bool { return s.PartsEnd == nil }) {
		if slices.Contains(f.visible, false) {
			return nil, 0, ErrOldJob
		}
		take(f.Job.Parts, true)
		return parts, 0, nil
	}
	for n, step := range f.Steps {
		take(*step.PartsEnd, f.Sees(n))
	}
	take(f.Job.Parts, f.Sees(len(f.Steps))) // of a repository that was not finished
	return parts, leftOut, nil
}
