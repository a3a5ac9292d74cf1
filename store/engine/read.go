package engine

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Get calls f with the value of key, borrowed, and reports whether there is one.
func Get(r pebble.Reader, key []byte, f func(value []byte) error) (found bool, err error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, errors.Join(f(value), closer.Close())
}

// Each calls f with the keys and values in some bounds, borrowed, until f returns
// false.
func Each(r pebble.Reader, bounds *pebble.IterOptions, f func(key, value []byte) (more bool, err error)) (err error) {
	it, err := r.NewIter(bounds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if more, err := f(it.Key(), value); err != nil || !more {
			return err
		}
	}
	return it.Error()
}

// Prefix bounds an iterator to the keys that begin with p.
func Prefix(p []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: p, UpperBound: After(p)}
}

// After returns the smallest key greater than every key that begins with p.
func After(p []byte) []byte {
	end := append([]byte(nil), p...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
