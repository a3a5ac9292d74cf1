package store

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// VerifyTables is engine.Engine.Verify.
func (s *Store) VerifyTables(ctx context.Context, read func(bytes int64), pause func(context.Context) error, fault func(file, problem string)) error {
	e := s.committer.versions.enter()
	defer s.committer.versions.leave(e)
	return e.Verify(ctx, read, pause, fault)
}

// TableBytes returns the size of what VerifyTables reads.
func (s *Store) TableBytes() int64 {
	e := s.committer.versions.enter()
	defer s.committer.versions.leave(e)
	return e.TableBytes()
}

// FaultyRecord is a small record with a fault.
type FaultyRecord struct {
	Key     []byte
	Problem string
	// Repository is the one whose commits' people it holds, 0 for any other.
	Repository uint32
	// Lost says that it is the record of a repository, the only one that names
	// it.
	Lost *LostRepository
	// Stray says that the record belongs to no shard or repository, or that
	// nothing needs it. It does no harm, and RemoveStray deletes it.
	Stray bool
}

// FaultOf describes a fault in a record of some kind.
func FaultOf(kind RecordKind, id []byte, problem string, stray bool) FaultyRecord {
	return FaultyRecord{Key: keyRecord(kind, id), Problem: problem, Stray: stray}
}

// VerifyRecords reports the records of shards and repositories that cannot be
// decoded or have no owner. The packages that own the other records verify
// those; here only their kind is checked.
func (sn *Snapshot) VerifyRecords(ctx context.Context, fault func(FaultyRecord)) error {
	for _, o := range []pebble.IterOptions{{UpperBound: []byte{shard.Prefix}}, {LowerBound: []byte{shard.Prefix + 1}}} {
		it, err := sn.m.snap.NewIter(&o)
		if err != nil {
			return err
		}
		for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
			value, err := it.ValueAndErr()
			if err != nil {
				break // the iterator reports it
			}
			if f, ok := faulty(sn.c, it.Key(), value); ok {
				fault(f)
			}
		}
		if err := it.Close(); err != nil {
			fault(FaultyRecord{Problem: engine.Message(err)})
		}
	}
	return ctx.Err()
}

// faulty judges one record.
func faulty(c *catalogue, key, value []byte) (f FaultyRecord, ok bool) {
	f.Key = append(f.Key, key...)
	say := func(format string, args ...any) (FaultyRecord, bool) {
		f.Problem = fmt.Sprintf(format, args...)
		return f, true
	}
	switch key[0] {
	case prefixRecord:
		if len(key) < 2 || !RecordKind(key[1]).known() {
			return say("record of a kind that there is not")
		}
		if RecordKind(key[1]) == RecordOwners {
			problem, stray := faultyOwners(c, key[2:], value)
			f.Problem, f.Stray = problem, stray
			return f, problem != ""
		}
		return f, false
	case prefixMeta:
		if string(key) == string(keyNextRepository) && len(value) != 4 {
			return say("the number of the next repository has %d bytes, not 4", len(value))
		}
		return f, false
	case prefixRepository, prefixHeader, prefixDead, prefixAway, prefixPeople, prefixAside:
	default:
		return say("key of no kind")
	}
	id, err := recordID(key, key[0])
	if err != nil {
		return say("key of a wrong length")
	}
	switch key[0] {
	case prefixRepository:
		if c.repository(id) == nil {
			lost := lostFrom(id, value)
			f.Lost = &lost
			return say("the record of repository %d cannot be read", id)
		}
	case prefixPeople:
		if f.Stray = c.repository(id) == nil; f.Stray {
			return say("people of repository %d, which there is not", id)
		}
		if _, err := decodePeople(value); err != nil {
			f.Repository = id
			return say("people of repository %q: %v", c.repository(id).Name, err)
		}
	case prefixDead, prefixAway, prefixAside:
		if f.Stray = c.shard(id) == nil; f.Stray {
			return say("record about shard %d, which there is not", id)
		}
	}
	return f, false
}

// RemoveStray deletes a record that is stray.
func (tx *Tx) RemoveStray(f FaultyRecord) { tx.more = append(tx.more, valueOperation{name: f.Key}) }
