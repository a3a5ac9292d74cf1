package saved

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Every record and its id.
//
//	RecordSite   "id"    a text that no other data directory has

// Book is the records of one store. It is safe for concurrent use.
type Book struct {
	st  *store.Store
	now func() time.Time

	mu sync.Mutex // one change at a time
}

// Open returns the records of a store; now is the clock, nil is time.Now.
func Open(st *store.Store, now func() time.Time) *Book {
	if now == nil {
		now = time.Now
	}
	return &Book{st: st, now: now}
}

var keySiteID = []byte("id")

// SiteID returns a text that no other data directory has. It is made when it is
// first asked for.
func (b *Book) SiteID() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, err := b.st.Record(store.RecordSite, keySiteID)
	if err == nil {
		return string(value), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	id := rand.Text()
	var c store.Records
	c.Put(store.RecordSite, keySiteID, []byte(id))
	return id, b.st.CommitRecords(&c)
}
