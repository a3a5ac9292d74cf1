package saved

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Verify reads every record of a book and tells of those that cannot be decoded
// or refer to something that there is not. Search jobs that cannot be read, and
// what is of no job, can be deleted: whoever misses one searches again. The error
// says why it could not read on.
func Verify(st *store.Store, tell func(store.FaultyRecord)) error {
	verify := func(kind store.RecordKind, what string, stray bool, f func(id, value []byte) error) error {
		return st.EachRecord(store.RecordRange{Kind: kind}, func(id, value []byte) (bool, error) {
			if err := f(id, value); err != nil {
				tell(store.FaultOf(kind, id, fmt.Sprintf("%s %x: %v", what, id, err), stray || errors.Is(err, errNoJob)))
			}
			return true, nil
		})
	}
	records := func(kind store.RecordKind, what string, f func(id, value []byte) error) error {
		return verify(kind, what, false, f)
	}
	ofJob := func(id []byte) error {
		if len(id) != 8 {
			return errNoJob
		}
		value, err := st.Record(store.RecordJob, id[:4])
		if err == nil {
			_, err = own[Job](store.RecordJob, id[:4], value)
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
			return fmt.Errorf("%w: %w", errNoJob, err)
		}
		return err
	}
	return errors.Join(
		records(store.RecordSite, "site record", func(id, value []byte) error {
			if string(id) != string(keySiteID) && len(value) != 4 {
				return fmt.Errorf("%d bytes, want 4", len(value))
			}
			return nil
		}),
		records(store.RecordSettings, "settings", func(id, value []byte) error {
			_, err := decode[Settings](store.RecordSettings, id, value)
			return err
		}),
		records(store.RecordService, "external service", func(id, value []byte) error {
			_, err := decode[Service](store.RecordService, id, value)
			return err
		}),
		records(store.RecordSavedSearch, "saved search", func(id, value []byte) error {
			_, err := own[Search](store.RecordSavedSearch, id, value)
			return err
		}),
		verify(store.RecordJob, "search job", true, func(id, value []byte) error {
			_, err := own[Job](store.RecordJob, id, value)
			return err
		}),
		records(store.RecordJobStep, "step of a search job", func(id, value []byte) error {
			if err := ofJob(id); err != nil {
				return err
			}
			_, err := decode[JobStep](store.RecordJobStep, id, value)
			return err
		}),
		records(store.RecordJobResult, "results of a search job", func(id, _ []byte) error { return ofJob(id) }))
}

// errNoJob is why steps and results can be deleted.
var errNoJob = errors.New("it is of no search job")
