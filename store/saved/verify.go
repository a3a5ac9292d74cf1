package saved

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Verify reads every record of a Book and reports those that cannot be decoded
// or refer to a record that does not exist. Search jobs that cannot be read,
// and parts of no job, can be deleted: their users search again. The error says
// why it could not read on.
func Verify(st *store.Store, tell func(store.FaultyRecord)) error {
	ofJob := func(p jobPart) error {
		_, err := jobs.Get(st, p.Job)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
			return fmt.Errorf("%w: %w", errNoJob, err)
		}
		return err
	}
	stray := func(id []byte) bool {
		p, err := steps.Key(id)
		return err != nil || errors.Is(ofJob(p), errNoJob)
	}
	return errors.Join(
		site.Verify(st, tell, nil, nil),
		settings.Verify(st, tell, nil, nil),
		services.Verify(st, tell, nil, nil),
		searches.Verify(st, tell, nil, nil),
		contexts.Verify(st, tell, nil, nil),
		choices.Verify(st, tell, table.Always, nil),
		jobs.Verify(st, tell, table.Always, nil),
		steps.Verify(st, tell, stray, func(p jobPart, _ *JobStep) error { return ofJob(p) }),
		results.Verify(st, tell, stray, func(p jobPart, _ *[]byte) error { return ofJob(p) }))
}

// errNoJob is why steps and results can be deleted.
var errNoJob = errors.New("it is of no search job")
