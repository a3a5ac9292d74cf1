package oauth

import (
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Verify reads every record of OAuth apps and tells of those that cannot be
// decoded or refer to something that there is not. The error says why it could
// not read on.
func Verify(st *store.Store, tell func(store.FaultyRecord)) error {
	records := func(kind store.RecordKind, what string, f func(id, value []byte) error) error {
		return st.EachRecord(store.RecordRange{Kind: kind}, func(id, value []byte) (bool, error) {
			if err := f(id, value); err != nil {
				tell(store.FaultOf(kind, id, fmt.Sprintf("%s %x: %v", what, id, err), false))
			}
			return true, nil
		})
	}
	there := func(kind store.RecordKind, id []byte, what string) error {
		if _, err := st.Record(kind, id); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	return errors.Join(
		records(store.RecordApp, "OAuth app", func(id, value []byte) error {
			var a App
			if err := store.DecodeRecord(store.RecordApp, id, value, &a); err != nil {
				return err
			}
			if a.ID != string(id) {
				return fmt.Errorf("it is that of app %q", a.ID)
			}
			return nil
		}),
		records(store.RecordGrant, "grant", func(id, value []byte) error {
			var g Grant
			if len(id) != len(g.ID) {
				return errors.New("its key has a wrong length")
			}
			if err := store.DecodeRecord(store.RecordGrant, id, value, &g); err != nil {
				return err
			}
			return nil // its user may be gone: then it is swept away in time
		}),
		records(store.RecordDevice, "device", func(id, value []byte) error {
			var d Device
			if err := store.DecodeRecord(store.RecordDevice, id, value, &d); err != nil {
				return err
			}
			return there(store.RecordUserCode, d.UserCode, "its user code")
		}),
		records(store.RecordUserCode, "user code", func(_, value []byte) error {
			return there(store.RecordDevice, value, "its device")
		}))
}
