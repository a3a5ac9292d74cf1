package saved

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Every record and its id, numbers big-endian. Values are JSON.
//
//	RecordSite   "id"    a text that no other data directory has
//	RecordSite   name    the number that was handed out last(4)
//	RecordSettings      kind of subject(1) subject(4) version(4)   Settings
//	RecordService       service(4)       Service
//	RecordSavedSearch   search(4)        Search
//	RecordJob           job(4)           Job
//	RecordJobStep       job(4) step(4)   JobStep
//	RecordJobResult     job(4) part(4)   lines of results

// Book is the records of one store. It is safe for concurrent use.
type Book struct {
	// Damaged, if set, hears of records that are done without since they cannot be
	// read, again and again. It is set before the book is used.
	Damaged func(kind store.RecordKind, id []byte, err error)

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
	c := b.st.BeginRecords()
	value, err := b.st.Record(store.RecordSite, keySiteID)
	if err == nil {
		return string(value), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	id := rand.Text()
	c.Put(store.RecordSite, keySiteID, []byte(id))
	return id, b.st.CommitRecords(&c)
}

func id4(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// next hands out a number that was never handed out under that name, and notes
// it in the change. The lock is held.
func (b *Book) next(c *store.Records, name string) (uint32, error) {
	value, err := b.st.Record(store.RecordSite, []byte(name))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	n := uint32(1)
	if err == nil {
		if len(value) != 4 {
			return 0, fmt.Errorf("number of the next %s: %w", name, store.ErrCorrupt)
		}
		n = binary.BigEndian.Uint32(value) + 1
	}
	c.Put(store.RecordSite, []byte(name), id4(n))
	return n, nil
}

func put(c *store.Records, kind store.RecordKind, id []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode record %c: %w", kind, err)
	}
	c.Put(kind, id, value)
	return nil
}

func get[T any](b *Book, kind store.RecordKind, id []byte) (*T, error) {
	value, err := b.st.Record(kind, id)
	if err != nil {
		return nil, err
	}
	return decode[T](kind, id, value)
}

func decode[T any](kind store.RecordKind, id, value []byte) (*T, error) {
	v := new(T)
	return v, store.DecodeRecord(kind, id, value, v)
}

// numbered is a record that says which one it is.
type numbered[T any] interface {
	*T
	number() uint32
}

// own decodes a record, and makes sure that it is the one that its key says.
func own[T any, P numbered[T]](kind store.RecordKind, id, value []byte) (P, error) {
	v, err := decode[T](kind, id, value)
	if err == nil && string(id4(P(v).number())) != string(id) {
		err = fmt.Errorf("record %c %x is that of %d: %w", kind, id, P(v).number(), store.ErrCorrupt)
	}
	return v, err
}

// sound returns the records of a kind that can be read, in order of their ids:
// one that is damaged keeps no other from being used.
func sound[T any, P numbered[T]](b *Book, kind store.RecordKind) ([]*T, error) {
	out := []*T{}
	err := b.st.EachRecord(store.RecordRange{Kind: kind}, func(id, value []byte) (bool, error) {
		v, err := own[T, P](kind, id, value)
		switch {
		case err == nil:
			out = append(out, v)
		case b.Damaged != nil:
			b.Damaged(kind, id, err)
		}
		return true, nil
	})
	return out, err
}

// all returns the records of a range, in order of their ids, if all can be read.
func all[T any](b *Book, r store.RecordRange) ([]*T, error) {
	out := []*T{}
	err := b.st.EachRecord(r, func(id, value []byte) (bool, error) {
		v, err := decode[T](r.Kind, id, value)
		out = append(out, v)
		return true, err
	})
	return out, err
}
