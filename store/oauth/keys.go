package oauth

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Every record and its id, numbers big-endian. Values are JSON unless they are
// told here.
//
//	RecordApp       client id                      App
//	RecordGrant     GrantID: user(4) random(8)     Grant
//	RecordDevice    sha256 of device code(32)      Device
//	RecordUserCode  sha256 of user code(32)        sha256 of device code(32)

func id4(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }

// get reads a JSON record into v.
func get(st *store.Store, kind store.RecordKind, id []byte, v any) error {
	value, err := st.Record(kind, id)
	if err != nil {
		return err
	}
	return store.DecodeRecord(kind, id, value, v)
}

// idBytes are the lengths of ids that are numbers or hashes.
var idBytes = map[store.RecordKind]int{store.RecordGrant: grantIDBytes, store.RecordDevice: sha256.Size, store.RecordUserCode: sha256.Size}

// checkID fails for an id of another length than those of its kind.
func checkID(kind store.RecordKind, id []byte) error {
	if n, ok := idBytes[kind]; ok && n != len(id) {
		return fmt.Errorf("record %c %x: its id has %d bytes: %w", kind, id, len(id), store.ErrCorrupt)
	}
	return nil
}

// each calls f with the JSON records of a range. One that is damaged is left
// out, and told of as the registry tells of its own.
func each[T any](b *Book, r store.RecordRange, f func(id []byte, v *T) error) error {
	return b.st.EachRecord(r, func(id, value []byte) (bool, error) {
		var v T
		err := errors.Join(checkID(r.Kind, id), store.DecodeRecord(r.Kind, id, value, &v))
		if err == nil {
			if err = f(id, &v); !errors.Is(err, store.ErrCorrupt) {
				return true, err
			}
		}
		b.reg.TellDamaged(r.Kind, id, err)
		return true, nil
	})
}
