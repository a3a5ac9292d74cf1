package oauth

import (
	"crypto/sha256"
	"errors"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// The tables, one for each kind of record, by client id, GrantID and the hashes
// of codes. Values are JSON, but for those of user codes, which are the hashes of
// the device codes.
var (
	apps   = table.JSON(store.RecordApp, "OAuth app", table.Own(func(a *App) string { return a.ID }))
	grants = table.JSON(store.RecordGrant, "grant", func(id GrantID, g *Grant) error {
		g.ID = id
		return nil
	})
	devices = table.JSON(store.RecordDevice, "device", func(_ Hash, d *Device) error {
		if len(d.UserCode) != sha256.Size {
			return errors.New("it has no user code")
		}
		return nil
	})
	userCodes = table.Binary[Hash, Hash](store.RecordUserCode, "user code")
)

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }
