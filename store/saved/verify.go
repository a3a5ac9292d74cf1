package saved

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Verify reads every record of a Book and reports those that cannot be decoded
// or refer to a record that does not exist. Search jobs and monitors that cannot be
// read, and parts of none, can be deleted: their users search again. The error says
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
	watched := func(search uint32) error {
		_, err := monitors.Get(st, search)
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
			return fmt.Errorf("%w: %w", errNoMonitor, err)
		}
		return err
	}
	// What monitors know and have told can be dropped: they begin anew there.
	return errors.Join(
		monitors.Verify(st, tell, table.Always, func(id uint32, _ *Monitor) error {
			_, err := searches.Get(st, id)
			return err
		}),
		knowns.Verify(st, tell, table.Always, func(k knownKey, _ *[]byte) error { return watched(k.Search) }),
		looked.Verify(st, tell, table.Always, func(k knownKey, _ *uint64) error { return watched(k.Search) }),
		firings.Verify(st, tell, table.Always, func(k firingKey, _ *Firing) error { return watched(k.Search) }),
		waiting.Verify(st, tell, table.Always, func(k firingKey, _ *int64) error {
			_, err := firings.Get(st, k)
			return err
		}),
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

// errNoJob and errNoMonitor are why parts of them can be deleted.
var (
	errNoJob     = errors.New("it is of no search job")
	errNoMonitor = errors.New("it is of no monitor")
)
