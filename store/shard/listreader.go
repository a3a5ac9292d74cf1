package shard

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// ListReader finds posting lists of a snapshot's shards through one iterator,
// which knows the table and the block where it stands: the next list of the
// same shard costs 0.6 microseconds, a look-up by itself 3. It is not safe for
// concurrent use, and is closed before its snapshot.
type ListReader struct {
	src *Source
	// it is nil until the first list is read: many a search reads none.
	it       *pebble.Iterator
	key, end []byte
}

// NewListReader returns a reader of posting lists.
func NewListReader(src *Source) *ListReader { return &ListReader{src: src} }

// ListReader returns a reader of posting lists of v's snapshot.
func (v View) ListReader() *ListReader { return NewListReader(v.src) }

// Close ends the reader.
func (r *ListReader) Close() error {
	if r.it == nil {
		return nil
	}
	it := r.it
	r.it = nil
	if err := it.Close(); err != nil {
		return fmt.Errorf("read posting lists: %w", err)
	}
	return nil
}

func (r *ListReader) open() (err error) {
	if r.it == nil {
		if r.it, err = r.src.Reader.NewIter(nil); err != nil {
			return fmt.Errorf("read posting lists: %w", err)
		}
	}
	return nil
}

// get appends the value of r.key to dst, nothing if there is none.
func (r *ListReader) get(dst []byte) ([]byte, error) {
	value, err := r.borrow()
	return append(dst, value...), err
}

// borrow returns the value of r.key, which is valid until the next read, or nil.
func (r *ListReader) borrow() ([]byte, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	if !r.it.SeekGE(r.key) {
		return nil, r.failure()
	}
	if !bytes.Equal(r.it.Key(), r.key) {
		return nil, nil
	}
	value, err := r.it.ValueAndErr()
	if err != nil {
		return nil, fmt.Errorf("read posting list: %w", err)
	}
	return value, nil
}

// scan yields the values from r.key up to but not including r.end until f
// returns false.
func (r *ListReader) scan(f func(value []byte) (bool, error)) error {
	if err := r.open(); err != nil {
		return err
	}
	for ok := r.it.SeekGE(r.key); ok && bytes.Compare(r.it.Key(), r.end) < 0; ok = r.it.Next() {
		value, err := r.it.ValueAndErr()
		if err != nil {
			return fmt.Errorf("scan posting lists: %w", err)
		}
		if more, err := f(value); err != nil || !more {
			return err
		}
	}
	return r.failure()
}

func (r *ListReader) failure() error {
	if err := r.it.Error(); err != nil {
		return fmt.Errorf("read posting lists: %w", err)
	}
	return nil
}
