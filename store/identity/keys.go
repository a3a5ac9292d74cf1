package identity

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/store"
)

// Every record and its id, numbers big-endian. Values are JSON unless they are
// told here.
//
//	RecordUser        user(4)           User
//	RecordName        name in lower case   'u' or 'o', id(4)
//	RecordEmail       address in lower case   user(4); verified addresses only
//	RecordPassword    user(4)           storedPassword
//	RecordReset       user(4)           storedReset
//	RecordLockout     user(4)           failures
//	RecordSeen        user(4)           unix seconds(8), when last active
//	RecordOrg         org(4)            Org
//	RecordMember      org(4) user(4)    empty
//	RecordMembership  user(4) org(4)    empty
//	RecordToken       user(4) token(4)  Token
//	RecordTokenHash   sha256(32)        user(4) token(4); live tokens only
//	RecordTokenUse    token(4)          user(4), unix seconds(8), when last used
//	RecordSession     sha256(32)        Session
//	RecordAudit       number(8)         Entry
//	RecordPin         user:NAME or org:NAME in lower case   storedPin
//	RecordCounter     name              the number to hand out next(8)

func id4(n uint32) []byte       { return binary.BigEndian.AppendUint32(nil, n) }
func id44(a, b uint32) []byte   { return binary.BigEndian.AppendUint32(id4(a), b) }
func id8(n uint64) []byte       { return binary.BigEndian.AppendUint64(nil, n) }
func number(b []byte) uint32    { return binary.BigEndian.Uint32(b) }
func corrupt(what string) error { return fmt.Errorf("%s: %w", what, store.ErrCorrupt) }
func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }

// idBytes are the lengths of ids that are numbers or hashes.
var idBytes = map[store.RecordKind]int{
	store.RecordUser: 4, store.RecordPassword: 4, store.RecordReset: 4, store.RecordLockout: 4, store.RecordSeen: 4, store.RecordOrg: 4,
	store.RecordMember: 8, store.RecordMembership: 8, store.RecordToken: 8, store.RecordTokenHash: 32, store.RecordTokenUse: 4,
	store.RecordSession: 32, store.RecordAudit: 8,
}

// checkID fails for an id of another length than those of its kind.
func checkID(kind store.RecordKind, id []byte) error {
	if n, ok := idBytes[kind]; ok && n != len(id) {
		return fmt.Errorf("record %c %x: its id has %d bytes: %w", kind, id, len(id), store.ErrCorrupt)
	}
	return nil
}

// The counters.
const (
	counterUser  = "user"
	counterOrg   = "org"
	counterToken = "token"
	counterAudit = "audit"
)

// The owners of names.
const (
	nameOfUser = 'u'
	nameOfOrg  = 'o'
)

// get reads a JSON record into v.
func get(st *store.Store, kind store.RecordKind, id []byte, v any) error {
	value, err := st.Record(kind, id)
	if err != nil {
		return err
	}
	return store.DecodeRecord(kind, id, value, v)
}

// eachSound calls f with the JSON records of a range, but for those that are
// damaged, or about which f says so, which the owner of the registry is told of:
// one of them does not keep others from being listed, used or deleted.
func eachSound[T any](r *Registry, in store.RecordRange, f func(id []byte, v T) (more bool, err error)) error {
	return r.st.EachRecord(in, func(id, value []byte) (bool, error) {
		var v T
		err := errors.Join(checkID(in.Kind, id), store.DecodeRecord(in.Kind, id, value, &v))
		if err == nil {
			more, failed := f(id, v)
			if !errors.Is(failed, store.ErrCorrupt) {
				return more, failed
			}
			err = failed // another record that this one depends on
		}
		r.TellDamaged(in.Kind, id, err)
		return true, nil
	})
}

// TellDamaged tells the owner of the registry of a damaged record, once.
func (r *Registry) TellDamaged(kind store.RecordKind, id []byte, err error) {
	key := string(kind) + string(id)
	if _, told := r.told.LoadOrStore(key, true); !told {
		r.o.Damaged(err)
	}
}
