package saved

import (
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// JobState is how far a job is, by its name in the API.
type JobState string

// The states of a job. The last three are final.
const (
	JobQueued    JobState = "QUEUED"
	JobRunning   JobState = "PROCESSING"
	JobFailed    JobState = "FAILED"
	JobCompleted JobState = "COMPLETED"
	JobCanceled  JobState = "CANCELED"
)

// Final reports whether a job in this state is over.
func (s JobState) Final() bool { return s == JobFailed || s == JobCompleted || s == JobCanceled }

// Job is a search over all repositories that runs in the background, one
// repository after another. Its matches in a repository are committed together
// with the mark that the repository is done, so a restart continues with the
// next.
type Job struct {
	// ID is never used again.
	ID    uint32 `json:"id"`
	Query string `json:"query"`
	// Creator is the ID of the user for whom it searches, 0 for the operator.
	Creator  uint32    `json:"creator,omitempty"`
	State    JobState  `json:"state"`
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Repositories are the IDs of those to search, in order. So many of them are
	// Done, and so many of those did not go well.
	Repositories []uint32 `json:"repositories,omitempty"`
	Done         int      `json:"done,omitempty"`
	Failures     int      `json:"failures,omitempty"`
	// Parts is how many parts the results have, Bytes how long they are. Those
	// of the repositories that are done are PartsDone and BytesDone of them.
	Parts     uint32 `json:"parts,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	PartsDone uint32 `json:"partsDone,omitempty"`
	BytesDone int64  `json:"bytesDone,omitempty"`
	// Failure is why it failed as a whole.
	Failure string `json:"failure,omitempty"`
}

// JobStep is the result of a job in one repository.
type JobStep struct {
	Repository string    `json:"repository"`
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	// Matches counts the results.
	Matches int `json:"matches,omitempty"`
	// Failure is empty if it went well.
	Failure string `json:"failure,omitempty"`
	// PartsEnd is how many parts the results of the job had when the step was
	// done; nil in steps of versions that did not keep it.
	PartsEnd *uint32 `json:"partsEnd,omitempty"`
}

// Jobs are the search jobs of a book.
type Jobs struct{ *base }

// All returns all jobs by ID, but for damaged ones.
func (b Jobs) All() ([]*Job, error) { return jobs.All(b.st, store.RecordRange{}, b.o.Damaged) }

// Each calls f with all jobs by ID, but for damaged ones.
func (b Jobs) Each(f func(*Job)) error { return each(b.base, jobs, f) }

// Get returns the job with an ID, or an error that is store.ErrNotFound.
func (b Jobs) Get(id uint32) (*Job, error) { return jobs.Get(b.st, id) }

// Add queues a search.
func (b Jobs) Add(query string, creator uint32) (*Job, error) {
	j := &Job{Query: query, Creator: creator, State: JobQueued, Created: b.now()}
	return j, b.update(func(b *Book, c *store.Records) (err error) {
		if j.ID, err = b.next(c, "job"); err != nil {
			return err
		}
		return jobs.Put(c, j.ID, j)
	})
}

// Change has f alter a job that is not over, and returns it as it is then; the
// error is ErrConflict for a job that is over.
func (b Jobs) Change(id uint32, f func(*Job)) (*Job, error) { return b.change(id, nil, nil, f) }

// AddResults keeps what a job found, and with step, if that is not nil, that it
// is done with a repository.
func (b Jobs) AddResults(id uint32, results []byte, step *JobStep) (*Job, error) {
	return b.change(id, results, step, func(*Job) {})
}

func (b Jobs) change(id uint32, found []byte, step *JobStep, f func(*Job)) (*Job, error) {
	return change(b.base, jobs, id, func(_ *Book, c *store.Records, j *Job) error {
		if j.State.Final() {
			return fmt.Errorf("search job %d: %w", id, ErrConflict)
		}
		f(j)
		for part := range slices.Chunk(found, partBytes) {
			if err := results.Put(c, jobPart{id, j.Parts}, &part); err != nil {
				return err
			}
			j.Parts++
			j.Bytes += int64(len(part))
		}
		if step != nil {
			step.PartsEnd = &j.Parts
			if err := steps.Put(c, jobPart{id, uint32(j.Done)}, step); err != nil {
				return err
			}
			j.Done++
			if step.Failure != "" {
				j.Failures++
			}
			j.PartsDone, j.BytesDone = j.Parts, j.Bytes
		}
		return nil
	})
}

// Rewind drops what a job found in a repository that it had not finished
// when the process ended.
func (b Jobs) Rewind(id uint32) (j *Job, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if j, err = b.Jobs.Get(id); err != nil || j.Parts == j.PartsDone {
			return err
		}
		unfinished := store.RecordRange{Prefix: table.ID(id), From: table.ID(jobPart{id, j.PartsDone})}
		if err := b.delete(c, unfinished, store.RecordJobResult); err != nil {
			return err
		}
		j.Parts, j.Bytes = j.PartsDone, j.BytesDone
		return jobs.Put(c, id, j)
	})
	return j, err
}

// partBytes is how long a part of results is at most.
const partBytes = 128 << 10

// Part returns one of the parts of what a job found, counted from 0.
func (b Jobs) Part(id, part uint32) ([]byte, error) {
	value, err := results.Lookup(b.st, jobPart{id, part})
	if err != nil {
		return nil, fmt.Errorf("part %d of search job %d: %w", part, id, err)
	}
	return *value, nil
}

// Steps returns the results of a job so far, in order.
func (b Jobs) Steps(id uint32) ([]*JobStep, error) {
	return steps.All(b.st, store.RecordRange{Prefix: table.ID(id)}, nil)
}

// Remove forgets a job and what it found.
func (b Jobs) Remove(id uint32) error {
	return b.update(func(b *Book, c *store.Records) error {
		if _, err := b.Jobs.Get(id); err != nil {
			return err
		}
		jobs.Delete(c, id)
		return b.delete(c, store.RecordRange{Prefix: table.ID(id)}, store.RecordJobResult, store.RecordJobStep)
	})
}
