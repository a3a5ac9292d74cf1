package store

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// batch gathers what is written in one piece. Store.write returns the first error of
// it.
type batch struct {
	*pebble.Batch
	err error
}

func (b *batch) fail(err error) { b.err = cmp.Or(b.err, err) }

func (b *batch) set(key, value []byte) { b.fail(b.Set(key, value, nil)) }

func (b *batch) json(key []byte, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		b.fail(fmt.Errorf("encode record: %w", err))
	}
	b.set(key, raw)
}

func (b *batch) delete(keys ...[]byte) {
	for _, key := range keys {
		b.fail(b.Delete(key, nil))
	}
}
