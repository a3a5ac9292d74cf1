package saved

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// The tables, one for each kind of record. Values are JSON, but for those of the
// site, which are a text that no other data directory has and, by name, the
// numbers(4) that were handed out last; for lines of results; for what monitors know;
// for when a firing is due, in
// milliseconds since 1970; and for the state of a repository that a monitor has looked at.
var (
	site     = table.Bytes(store.RecordSite, "site record", checkSite)
	settings = table.JSON(store.RecordSettings, "settings", table.Own(func(s *Settings) settingsKey { return settingsKey{s.Subject, s.ID} }))
	services = table.JSON(store.RecordService, "external service", table.Own(func(s *Service) uint32 { return s.ID }))
	searches = table.JSON(store.RecordSavedSearch, "saved search", table.Own(func(s *Search) uint32 { return s.ID }))
	jobs     = table.JSON(store.RecordJob, "search job", table.Own(func(j *Job) uint32 { return j.ID }))
	steps    = table.JSON[jobPart, JobStep](store.RecordJobStep, "step of a search job", nil)
	contexts = table.JSON(store.RecordContext, "search context", table.Own(func(c *Context) string { return contextKey(c.Owner, c.Name) }))
	choices  = table.JSON(store.RecordContextChoice, "chosen search contexts", table.Own(func(c *ContextChoice) uint32 { return c.User }))
	monitors = table.JSON(store.RecordMonitor, "monitor", table.Own(func(m *Monitor) uint32 { return m.Search }))
	knowns   = table.Bytes(store.RecordKnown, "matches that a monitor knows", checkKnown)
	looked   = table.Binary[knownKey, uint64](store.RecordLooked, "look of a monitor")
	firings  = table.JSON(store.RecordFiring, "firing of a monitor", table.Own(func(f *Firing) firingKey { return firingKey{f.Search, f.Number} }))
	waiting  = table.Binary[firingKey, int64](store.RecordWaiting, "firing that is to be told")
	results  = table.Bytes[jobPart](store.RecordJobResult, "results of a search job", nil)
)

// settingsKey is a version of the settings of a subject. The order of its fields is
// that of the key on disk, big-endian.
type settingsKey struct {
	Subject Subject
	Version uint32
}

// jobPart is a step of a job, or a part of its results: job(4) part(4), big-endian,
// on disk.
type jobPart struct{ Job, Part uint32 }

// Options say how a Book behaves. The zero value has usable defaults.
type Options struct {
	// Now is the clock, nil is time.Now.
	Now func() time.Time
	// Key seals secrets; nil keeps them as they are.
	Key *Key
	// Damaged, if set, is called for records that are skipped since they cannot
	// be read, at every read.
	Damaged func(kind store.RecordKind, id []byte, err error)
}

// Book is the records of one store, with a part for each kind of them. It is safe
// for concurrent use.
type Book struct {
	Settings Versions
	Services Services
	Searches Searches
	Monitors Monitors
	Firings  Firings
	Jobs     Jobs
	Contexts Contexts
	*base
}

// base is what the parts of a book have in common.
type base struct {
	o     Options
	store *store.Store
	st    table.Reader
}

// Open returns the records of a store.
func Open(st *store.Store, o Options) *Book {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Damaged == nil {
		o.Damaged = func(store.RecordKind, []byte, error) {}
	}
	return newBook(&base{o, st, st})
}

func newBook(b *base) *Book {
	return &Book{Versions{b}, Services{b}, Searches{b}, Monitors{b}, Firings{b}, Jobs{b}, Contexts{b}, b}
}

func (b *base) now() time.Time { return b.o.Now().UTC() }

// update commits what f puts, or nothing after an error. f reads through the book
// that it is given, and is run again when something of that has changed meanwhile. That
// book is called b, as the receiver is: what reads outside the transaction is shadowed.
func (b *base) update(f func(b *Book, c *store.Records) error) error {
	return b.store.Update(func(tx *store.Tx) error {
		return f(newBook(&base{b.o, b.store, tx}), &tx.Records)
	})
}

// each calls f with all records of a table, but for damaged ones.
func each[K comparable, T any](b *base, t *table.Table[K, T], f func(*T)) error {
	return t.Each(b.st, store.RecordRange{}, b.o.Damaged, func(_ K, v *T) (bool, error) {
		f(v)
		return true, nil
	})
}

// change has f alter the record under a key, which is returned as it is then.
func change[K comparable, T any](b *base, t *table.Table[K, T], key K, f func(b *Book, c *store.Records, v *T) error) (v *T, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		if v, err = t.Get(b.st, key); err != nil {
			return err
		}
		if err := f(b, c, v); err != nil {
			return err
		}
		return t.Put(c, key, v)
	})
	return v, err
}

// delete deletes the existing records of some kinds in a range, damaged ones too. It
// needs no count of them: that of a damaged record could be billions.
func (b *base) delete(c *store.Records, in store.RecordRange, kinds ...store.RecordKind) error {
	for _, kind := range kinds {
		in.Kind = kind
		err := b.st.EachRecord(in, func(id, _ []byte) (bool, error) {
			c.Delete(kind, id)
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const keySiteID = "id"

func checkSite(name string, value *[]byte) error {
	if name != keySiteID && len(*value) != 4 {
		return fmt.Errorf("%d bytes, want 4", len(*value))
	}
	return nil
}

// SiteID returns a text that no other data directory has. It is made when it is
// first asked for.
func (b *Book) SiteID() (id string, err error) {
	err = b.update(func(b *Book, c *store.Records) error {
		value, err := site.Get(b.st, keySiteID)
		if errors.Is(err, store.ErrNotFound) {
			id = rand.Text()
			made := []byte(id)
			return site.Put(c, keySiteID, &made)
		}
		if err == nil {
			id = string(*value)
		}
		return err
	})
	return id, err
}

// next hands out a number that was never handed out under that name, and notes
// it in the change.
func (b *base) next(c *store.Records, name string) (uint32, error) {
	n := uint32(1)
	last, err := site.Get(b.st, name)
	switch {
	case err == nil:
		n = binary.BigEndian.Uint32(*last) + 1
	case !errors.Is(err, store.ErrNotFound):
		return 0, err
	}
	value := table.ID(n)
	return n, site.Put(c, name, &value)
}
