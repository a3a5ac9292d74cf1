package settings

import (
	"fmt"
	"strconv"

	"github.com/trawlsearch/trawl/store/identity"
)

// auditData is what the page of the audit log shows, newest first.
type auditData struct {
	frame
	Entries []identity.Entry
	// Older is where the log goes on, "" at its end.
	Older string
}

func (d *auditData) fill(v *visit) (err error) {
	before, _ := strconv.ParseUint(v.r.URL.Query().Get("before"), 10, 64) // 0 is now
	d.Entries, err = v.Registry.Audit(identity.AuditFilter{Before: before, Limit: 2*perPage + 1})
	if len(d.Entries) > 2*perPage {
		d.Entries = d.Entries[:2*perPage]
		d.Older = fmt.Sprintf("%s?before=%d", d.Path, d.Entries[2*perPage-1].ID)
	}
	return err
}
