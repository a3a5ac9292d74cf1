package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store/engine"
)

// RecordKind says what a small record is about. Records have an id and a value
// that their owner chooses; the store keeps them in order of id and knows no
// more of them. A kind is never given to something else.
type RecordKind byte

// The kinds of records. These are of store/identity, whose keys.go defines
// their IDs.
const (
	RecordUser       RecordKind = 'u'
	RecordName       RecordKind = 'n'
	RecordEmail      RecordKind = 'e'
	RecordPassword   RecordKind = 'p'
	RecordReset      RecordKind = 'r'
	RecordLockout    RecordKind = 'f'
	RecordSeen       RecordKind = 'l'
	RecordOrg        RecordKind = 'o'
	RecordMember     RecordKind = 'm'
	RecordMembership RecordKind = 'M'
	RecordToken      RecordKind = 't'
	RecordTokenHash  RecordKind = 'h'
	RecordTokenUse   RecordKind = 'T'
	RecordSession    RecordKind = 's'
	RecordAudit      RecordKind = 'a'
	RecordCounter    RecordKind = 'c'
	RecordPin        RecordKind = 'P'
	RecordFailures   RecordKind = 'F'
	RecordSecret     RecordKind = 'S'
	RecordExternal   RecordKind = 'E'
)

// These are of store/saved, whose tables say what their ids are.
const (
	RecordSite          RecordKind = 'i'
	RecordSettings      RecordKind = 'g'
	RecordService       RecordKind = 'x'
	RecordSavedSearch   RecordKind = 'q'
	RecordJob           RecordKind = 'j'
	RecordJobStep       RecordKind = 'k'
	RecordJobResult     RecordKind = 'J'
	RecordContext       RecordKind = 'C'
	RecordContextChoice RecordKind = 'Y'
	RecordMonitor       RecordKind = 'w'
	RecordKnown         RecordKind = 'W'
	RecordLooked        RecordKind = 'X'
	RecordFiring        RecordKind = 'v'
	RecordWaiting       RecordKind = 'V'
)

// These are of store/oauth, whose keys.go defines their IDs.
const (
	RecordApp      RecordKind = 'A'
	RecordGrant    RecordKind = 'G'
	RecordDevice   RecordKind = 'D'
	RecordUserCode RecordKind = 'U'
)

// RecordAsked has an entry for each repository, by its ID in four bytes, that a node
// was asked to have synced by the one whose work it is.
const RecordAsked RecordKind = 'y'

// known reports whether k is one of those above.
func (k RecordKind) known() bool {
	switch k {
	case RecordUser, RecordName, RecordEmail, RecordPassword, RecordReset, RecordLockout, RecordSeen, RecordOrg, RecordMember,
		RecordMembership, RecordToken, RecordTokenHash, RecordTokenUse, RecordSession, RecordAudit, RecordCounter, RecordPin,
		RecordFailures, RecordSecret, RecordExternal,
		RecordSite, RecordSettings, RecordService, RecordSavedSearch, RecordJob, RecordJobStep, RecordJobResult,
		RecordContext, RecordContextChoice, RecordMonitor, RecordKnown, RecordLooked, RecordFiring, RecordWaiting,
		RecordApp, RecordGrant, RecordDevice, RecordUserCode,
		RecordAsked, RecordOwners:
		return true
	}
	return false
}

// DecodeRecord reads the value of a record that is kept as JSON into v. The error
// is ErrCorrupt, and names the record. A record is an object, a list or a number:
// JSON's null would leave v as it is or make it nil, and is damage. Unknown fields
// are none, since newer programs may have put them there.
func DecodeRecord(kind RecordKind, id, value []byte, v any) error {
	err := json.Unmarshal(value, v)
	if err == nil && string(bytes.TrimSpace(value)) == "null" {
		err = errors.New("it is null")
	}
	if err != nil {
		return fmt.Errorf("record %c %x: %w: %w", kind, id, ErrCorrupt, err)
	}
	return nil
}

// Records are changes of records, later ones after earlier ones. The zero value
// changes nothing; it is not safe for concurrent use.
type Records struct{ ops []valueOperation }

// Put gives a record a value, which belongs to the change from then on.
func (c *Records) Put(kind RecordKind, id, value []byte) {
	if value == nil {
		value = []byte{}
	}
	c.ops = append(c.ops, valueOperation{keyRecord(kind, id), value})
}

// Delete removes a record, if it is there.
func (c *Records) Delete(kind RecordKind, id []byte) {
	c.ops = append(c.ops, valueOperation{name: keyRecord(kind, id)})
}

// Empty reports whether c changes nothing.
func (c *Records) Empty() bool { return len(c.ops) == 0 }

func (c *Records) operations() []operation {
	ops := make([]operation, len(c.ops))
	for i, op := range c.ops {
		ops[i] = op
	}
	return ops
}

// CommitRecords applies c, which depends on nothing that was read, as Commit does.
func (s *Store) CommitRecords(c *Records) error {
	return s.Update(func(tx *Tx) error {
		tx.Records = *c
		return nil
	})
}

// Record returns the value of a record as last committed, which is the
// caller's, or ErrNotFound and nothing around it.
func (s *Store) Record(kind RecordKind, id []byte) ([]byte, error) {
	m := s.committer.versions.hold()
	defer s.committer.versions.release(m)
	return m.record(kind, id)
}

func (m *version) record(kind RecordKind, id []byte) ([]byte, error) {
	out := []byte{}
	found, err := engine.Get(m.snap, keyRecord(kind, id), func(value []byte) error {
		out = append(out, value...)
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("record %c %x: %w", kind, id, err)
	case !found:
		return nil, ErrNotFound // callers know what it was about
	}
	return out, nil
}

// RecordRange is a run of records of one kind.
type RecordRange struct {
	Kind RecordKind
	// Prefix is what all ids begin with; empty is the whole kind.
	Prefix []byte
	// Before and From bound the ids: From or greater, less than Before. Empty is
	// no bound.
	From, Before []byte
	// Backwards reads the greatest id first.
	Backwards bool
}

func (r RecordRange) bounds() *pebble.IterOptions {
	lower := keyRecord(r.Kind, r.Prefix)
	o := engine.Prefix(lower)
	if from := keyRecord(r.Kind, r.From); len(r.From) > 0 && bytes.Compare(from, o.LowerBound) > 0 {
		o.LowerBound = from
	}
	if before := keyRecord(r.Kind, r.Before); len(r.Before) > 0 && bytes.Compare(before, o.UpperBound) < 0 {
		o.UpperBound = before
	}
	return o
}

// EachRecord calls f with the records of a range as they were when it began,
// until f returns false. What f is given is borrowed until it returns.
func (s *Store) EachRecord(r RecordRange, f func(id, value []byte) (more bool, err error)) error {
	m := s.committer.versions.hold()
	defer s.committer.versions.release(m)
	return m.eachRecord(r, f)
}

func (m *version) eachRecord(r RecordRange, f func(id, value []byte) (more bool, err error)) (err error) {
	it, err := m.snap.NewIter(r.bounds())
	if err != nil {
		return fmt.Errorf("read records %c: %w", r.Kind, err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	first, next := it.First, it.Next
	if r.Backwards {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return fmt.Errorf("read records %c: %w", r.Kind, err)
		}
		if more, err := f(it.Key()[2:], value); err != nil || !more {
			return err
		}
	}
	return it.Error()
}
