package identity

import (
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// Tx is a change that another package makes to its own records, together with
// its lines of the audit log. It is valid until the function that it was given
// to returns.
type Tx struct{ c *change }

// Update runs f, one change of the registry after the other, and commits what
// it put with its lines of the audit log, or nothing after an error, which it
// returns. f must not call what changes the registry.
func (r *transactions) Update(by Author, f func(tx *Tx) error) error {
	return r.change(by, func(c *change) error { return f(&Tx{c}) })
}

// Reader reads the records that the change depends on, as they were before it.
func (tx *Tx) Reader() table.Reader { return tx.c.st }

// User returns the user with an ID, as it was before the change.
func (tx *Tx) User(id uint32) (*User, error) { return tx.c.User(id) }

// Now is the time of the change.
func (tx *Tx) Now() time.Time { return tx.c.now }

// Records are the records committed with the change.
func (tx *Tx) Records() *store.Records { return tx.c.records }

// Audit adds a line to the log about what was done to target and, unless about
// is 0, to the user with that ID.
func (tx *Tx) Audit(action, target string, about uint32, detail string) {
	tx.c.audit(action, target, "%s", detail)
	tx.c.entries[len(tx.c.entries)-1].About = about
}
