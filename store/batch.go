package store

import (
	"cmp"

	"github.com/cockroachdb/pebble/v2"
)

// batch gathers what is written in one piece. The committer returns the first error
// of it.
type batch struct {
	*pebble.Batch
	err error
}

func (b *batch) fail(err error) { b.err = cmp.Or(b.err, err) }

func (b *batch) set(key, value []byte) { b.fail(b.Set(key, value, nil)) }

func (b *batch) delete(keys ...[]byte) {
	for _, key := range keys {
		b.fail(b.Delete(key, nil))
	}
}
