package oauth

import (
	"errors"

	"github.com/trawlsearch/trawl/store"
)

// Verify reads every record of OAuth apps and reports those that cannot be
// decoded or refer to a record that does not exist. The user of a grant may be
// gone: the sweep then deletes it. The error says why it could not read on.
func Verify(st *store.Store, tell func(store.FaultyRecord)) error {
	return errors.Join(
		apps.Verify(st, tell, nil, nil),
		grants.Verify(st, tell, nil, nil),
		devices.Verify(st, tell, nil, func(_ Hash, d *Device) error {
			_, err := userCodes.Get(st, Hash(d.UserCode))
			return err
		}),
		userCodes.Verify(st, tell, nil, func(_ Hash, device *Hash) error {
			_, err := devices.Get(st, *device)
			return err
		}))
}
