package table

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Reader reads records: a store its last version, a transaction the one that it
// began with.
type Reader interface {
	Record(kind store.RecordKind, id []byte) ([]byte, error)
	EachRecord(in store.RecordRange, f func(id, value []byte) (more bool, err error)) error
}

// Table is the records of one kind, values of type T under keys of type K. A
// key is a string, or a value of fixed size as encoding/binary has it, which is
// kept big-endian, so that numbers are in order.
type Table[K comparable, T any] struct {
	kind store.RecordKind
	// name is what errors and findings call one record.
	name string
	// check fails for a value that does not belong to its key. It may complete
	// the value by what only the key says.
	check  func(key K, v *T) error
	encode func(v *T) ([]byte, error)
	// decode fails with store.ErrCorrupt.
	decode func(id, value []byte, v *T) error
}

// JSON returns the table of a kind whose values are kept as JSON. A nil check
// accepts each value that can be decoded.
func JSON[K comparable, T any](kind store.RecordKind, name string, check func(key K, v *T) error) *Table[K, T] {
	return &Table[K, T]{kind, name, check,
		func(v *T) ([]byte, error) { return json.Marshal(v) },
		func(id, value []byte, v *T) error { return store.DecodeRecord(kind, id, value, v) },
	}
}

// Binary returns the table of a kind whose values have a fixed size and are kept
// big-endian, as encoding/binary has them.
func Binary[K comparable, T any](kind store.RecordKind, name string) *Table[K, T] {
	return &Table[K, T]{kind, name, nil,
		func(v *T) ([]byte, error) { return binary.Append(nil, binary.BigEndian, v) },
		func(id, value []byte, v *T) error {
			if want := binary.Size(v); len(value) != want {
				return damage(kind, id, fmt.Errorf("%d bytes, want %d", len(value), want))
			}
			_, err := binary.Decode(value, binary.BigEndian, v)
			return err
		},
	}
}

// Bytes returns the table of a kind whose values are kept as they are.
func Bytes[K comparable](kind store.RecordKind, name string, check func(key K, value *[]byte) error) *Table[K, []byte] {
	return &Table[K, []byte]{kind, name, check,
		func(v *[]byte) ([]byte, error) { return *v, nil },
		func(_, value []byte, v *[]byte) error {
			*v = append([]byte{}, value...)
			return nil
		},
	}
}

// Own returns a check for values that hold their own key.
func Own[K comparable, T any](own func(v *T) K) func(key K, v *T) error {
	return func(key K, v *T) error {
		if k := own(v); k != key {
			return fmt.Errorf("it is that of %s", inWords(k))
		}
		return nil
	}
}

func damage(kind store.RecordKind, id []byte, err error) error {
	return fmt.Errorf("record %c %x: %w: %w", kind, id, store.ErrCorrupt, err)
}

// ID returns the id of the record under a key, and for a part of a key what the
// ids begin with. A key that is neither a string nor of fixed size is a mistake
// of the caller.
func ID(key any) []byte {
	if s, ok := key.(string); ok {
		return []byte(s)
	}
	id, err := binary.Append(nil, binary.BigEndian, key)
	if err != nil {
		panic(fmt.Sprintf("broken invariant: %T is the key of a record: %v", key, err))
	}
	return id
}

// inWords is a key as errors show it.
func inWords(key any) string {
	switch k := key.(type) {
	case string:
		return fmt.Sprintf("%.200q", k)
	case uint32, uint64:
		return fmt.Sprint(k)
	}
	return fmt.Sprintf("%x", ID(key))
}

// Key returns the key of the record with an id. The error is store.ErrCorrupt
// for an id that no key has.
func (t *Table[K, T]) Key(id []byte) (key K, err error) {
	if s, ok := any(&key).(*string); ok {
		*s = string(id)
		return key, nil
	}
	if len(id) != binary.Size(key) {
		return key, damage(t.kind, id, fmt.Errorf("its id has %d bytes, want %d", len(id), binary.Size(key)))
	}
	_, err = binary.Decode(id, binary.BigEndian, &key)
	return key, err
}

// read returns the key and value of a record, or an error that is
// store.ErrCorrupt.
func (t *Table[K, T]) read(id, value []byte) (key K, v *T, err error) {
	v = new(T)
	if key, err = t.Key(id); err == nil {
		err = t.decode(id, value, v)
	}
	if err == nil && t.check != nil {
		if err = t.check(key, v); err != nil {
			err = damage(t.kind, id, err)
		}
	}
	return key, v, err
}

// Get returns the value under a key. The error is store.ErrNotFound if there is
// none, and store.ErrCorrupt for a damaged record or that of another key.
func (t *Table[K, T]) Get(from Reader, key K) (*T, error) {
	v, err := t.Lookup(from, key)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", t.name, inWords(key), err)
	}
	return v, nil
}

// Lookup is Get for callers whose errors say what they looked for, such as an
// index: its store.ErrNotFound names no record.
func (t *Table[K, T]) Lookup(from Reader, key K) (*T, error) {
	id := ID(key)
	value, err := from.Record(t.kind, id)
	if err != nil {
		return nil, err
	}
	_, v, err := t.read(id, value)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Put has a change store a value under a key. It refuses a value that Get would
// call that of another key.
func (t *Table[K, T]) Put(c *store.Records, key K, v *T) error {
	var err error
	if t.check != nil {
		err = t.check(key, v)
	}
	var value []byte
	if err == nil {
		value, err = t.encode(v)
	}
	if err != nil {
		return fmt.Errorf("store %s %s: %w", t.name, inWords(key), err)
	}
	c.Put(t.kind, ID(key), value)
	return nil
}

// Delete has a change remove the record under a key, if it is there.
func (t *Table[K, T]) Delete(c *store.Records, key K) { c.Delete(t.kind, ID(key)) }

// Each calls f with the records of a range in order, until f returns false. The
// kind of the range is that of the table.
//
// With damaged, damaged records are left out and reported to it, and so are
// records for which f returns store.ErrCorrupt since they need another one that
// is damaged. Without it, the first of them ends the list with its error.
func (t *Table[K, T]) Each(from Reader, in store.RecordRange, damaged func(store.RecordKind, []byte, error), f func(key K, v *T) (more bool, err error)) error {
	in.Kind = t.kind
	return from.EachRecord(in, func(id, value []byte) (more bool, err error) {
		key, v, err := t.read(id, value)
		if err == nil {
			more, err = f(key, v)
		}
		if damaged != nil && errors.Is(err, store.ErrCorrupt) {
			damaged(t.kind, id, err)
			return true, nil
		}
		return more, err
	})
}

// All returns the values of a range in order, as Each has them.
func (t *Table[K, T]) All(from Reader, in store.RecordRange, damaged func(store.RecordKind, []byte, error)) ([]*T, error) {
	out := []*T{}
	err := t.Each(from, in, damaged, func(_ K, v *T) (bool, error) {
		out = append(out, v)
		return true, nil
	})
	return out, err
}

// Always is the stray of Verify for records that can be dropped.
func Always([]byte) bool { return true }

// Verify reads all records and reports those that are damaged, or for which f,
// if it is set, returns an error. stray says which of these can be deleted, nil
// for none. The error says why Verify could not read on.
func (t *Table[K, T]) Verify(from Reader, report func(store.FaultyRecord), stray func(id []byte) bool, f func(key K, v *T) error) error {
	return from.EachRecord(store.RecordRange{Kind: t.kind}, func(id, value []byte) (bool, error) {
		key, v, err := t.read(id, value)
		if err == nil && f != nil {
			err = f(key, v)
		}
		if err != nil {
			problem := fmt.Sprintf("%s %x: %v", t.name, id, err)
			report(store.FaultOf(t.kind, id, problem, stray != nil && stray(id)))
		}
		return true, nil
	})
}
