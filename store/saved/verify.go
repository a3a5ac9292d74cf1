package saved

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Verify reads every record of a book and tells of those that cannot be decoded
// or refer to something that there is not. The error says why it could not read
// on.
func Verify(st *store.Store, tell func(problem string)) error {
	records := func(kind store.RecordKind, what string, f func(id, value []byte) error) error {
		return st.EachRecord(store.RecordRange{Kind: kind}, func(id, value []byte) (bool, error) {
			if err := f(id, value); err != nil {
				tell(fmt.Sprintf("%s %x: %v", what, id, err))
			}
			return true, nil
		})
	}
	ofJob := func(id []byte) error {
		if len(id) != 8 {
			return errors.New("its key has a wrong length")
		}
		_, err := st.Record(store.RecordJob, id[:4])
		if err != nil {
			return fmt.Errorf("its job: %w", err)
		}
		return nil
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
			_, err := decode[Search](store.RecordSavedSearch, id, value)
			return err
		}),
		records(store.RecordJob, "search job", func(id, value []byte) error {
			_, err := decode[Job](store.RecordJob, id, value)
			return err
		}),
		records(store.RecordJobStep, "step of a search job", func(id, value []byte) error {
			if _, err := decode[JobStep](store.RecordJobStep, id, value); err != nil {
				return err
			}
			return ofJob(id)
		}),
		records(store.RecordJobResult, "results of a search job", func(id, _ []byte) error { return ofJob(id) }))
}
