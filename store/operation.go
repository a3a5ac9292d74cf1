package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/shard"
)

// operation sets or deletes one small record. A change is a list of operations,
// which go to disk in one batch, in their order. Each knows its record in both
// forms: encode is what the disk holds, apply the same for the catalogue.
type operation interface {
	key() []byte
	// encode returns the value of the record, nil to delete it.
	encode() ([]byte, error)
	// apply makes the change in a catalogue that no reader has yet.
	apply(c *catalogue)
}

// apply is the only way in which a catalogue changes after it was loaded.
func (c *catalogue) apply(ops []operation) {
	for _, op := range ops {
		op.apply(c)
	}
}

// putOperations puts ops into a batch. The run of a shard leaves with its header, and
// so does the record that it is quarantined.
func (b *batch) putOperations(ops []operation) {
	for _, op := range ops {
		key := op.key()
		value, err := op.encode()
		switch {
		case err != nil:
			b.fail(fmt.Errorf("encode record: %w", err))
		case value != nil:
			b.set(key, value)
		default:
			b.delete(key)
			if h, ok := op.(headerOperation); ok {
				from, to := shard.Keys(h.shard)
				b.fail(b.DeleteRange(from, to, nil))
				b.delete(keyAside(h.shard))
			}
		}
	}
}

// encodeOperations returns ops as a log has them.
func encodeOperations(ops []operation) ([]cluster.Write, error) {
	out := make([]cluster.Write, len(ops))
	for i, op := range ops {
		value, err := op.encode()
		if err != nil {
			return nil, fmt.Errorf("encode record: %w", err)
		}
		out[i] = cluster.Write{Key: op.key(), Value: value}
	}
	return out, nil
}

// decodeOperations is the opposite.
func decodeOperations(writes []cluster.Write) ([]operation, error) {
	out := make([]operation, len(writes))
	for i, w := range writes {
		op, err := decodeOperation(w.Key, w.Value)
		if err != nil {
			return nil, fmt.Errorf("record %x: %w: %w", w.Key, ErrCorrupt, err)
		}
		out[i] = op
	}
	return out, nil
}

// decodeOperation returns the operation that sets a record to value, or deletes it
// when value is nil. Both belong to the operation from then on.
func decodeOperation(key, value []byte) (operation, error) {
	if len(key) == 0 || !isShared(key) {
		return nil, errors.New("it is none that stores share")
	}
	switch key[0] {
	case prefixRecord, prefixMeta, prefixPeople:
		return valueOperation{key, value}, nil
	}
	id, err := recordID(key, key[0])
	if err != nil {
		return nil, err
	}
	switch key[0] {
	case prefixRepository:
		if value == nil {
			return repositoryOperation{id: id}, nil
		}
		r, err := decodeRepository(id, value)
		return repositoryOperation{id, r}, err
	case prefixHeader:
		if value == nil {
			return headerOperation{shard: id}, nil
		}
		h, err := decodeHeader(id, value)
		return headerOperation{id, h}, err
	case prefixDead:
		if value == nil {
			return deadOperation{shard: id}, nil
		}
		set := &postings.Set{}
		return deadOperation{id, set}, set.Decode(value)
	case prefixAway:
		of := ShardRepository{id, binary.BigEndian.Uint32(key[5:])}
		if value == nil {
			return exclusionOperation{of: of}, nil
		}
		sets, err := decodeAway(value)
		if sets == nil {
			sets = []*postings.Set{}
		}
		return exclusionOperation{of, sets}, err
	}
	return nil, errors.New("key of no kind")
}

// repositoryOperation sets the record of a repository, or removes the repository.
type repositoryOperation struct {
	id     uint32
	record *Repository
}

func (op repositoryOperation) key() []byte { return keyRepository(op.id) }

func (op repositoryOperation) encode() ([]byte, error) {
	if op.record == nil {
		return nil, nil
	}
	return json.Marshal(op.record)
}

func (op repositoryOperation) apply(c *catalogue) {
	if op.record != nil {
		op.record.followFetched(c.repository(op.id)) // one that another node made has nothing noted
		c.putRepository(op.record)
		return
	}
	if old := c.repository(op.id); old != nil {
		c.removeRepository(old)
	}
	c.forgetLost(op.id)
}

// headerOperation makes a shard visible, gives it another header, or drops it.
type headerOperation struct {
	shard  uint32
	header *shard.Header
}

func (op headerOperation) key() []byte { return keyHeader(op.shard) }

func (op headerOperation) encode() ([]byte, error) {
	if op.header == nil {
		return nil, nil
	}
	return json.Marshal(op.header)
}

func (op headerOperation) apply(c *catalogue) {
	old := c.shard(op.shard)
	switch {
	case op.header == nil:
		c.dropShard(op.shard)
	case old == nil:
		c.putShard(shard.New(op.shard, *op.header))
	default:
		c.putShard(old.With(*op.header))
	}
}

// deadOperation sets the dead documents of a shard, nil for none.
type deadOperation struct {
	shard uint32
	dead  *postings.Set
}

func (op deadOperation) key() []byte { return keyDead(op.shard) }

func (op deadOperation) encode() ([]byte, error) {
	if op.dead == nil {
		return nil, nil
	}
	return postings.Encode(nil, op.dead), nil
}

func (op deadOperation) apply(c *catalogue) {
	if op.dead == nil {
		c.dead.Delete(op.shard)
		return
	}
	c.dead.Set(op.shard, op.dead)
}

// exclusionOperation sets the documents that branches of a repository lack in a
// shard, nil for none.
type exclusionOperation struct {
	of   ShardRepository
	sets []*postings.Set
}

func (op exclusionOperation) key() []byte { return keyAway(op.of) }

func (op exclusionOperation) encode() ([]byte, error) {
	if op.sets == nil {
		return nil, nil
	}
	return append([]byte{}, encodeAway(op.sets)...), nil
}

func (op exclusionOperation) apply(c *catalogue) { c.setAway(op.of, op.sets) }

// quarantineOperation takes a shard out of service, or brings it back when there is no
// quarantine. A quarantine ends with the header as well.
type quarantineOperation struct {
	shard      uint32
	quarantine *shard.Quarantine
}

func (op quarantineOperation) key() []byte { return keyAside(op.shard) }

func (op quarantineOperation) encode() ([]byte, error) {
	if op.quarantine == nil {
		return nil, nil
	}
	return json.Marshal(op.quarantine)
}

func (op quarantineOperation) apply(c *catalogue) {
	if op.quarantine != nil {
		c.aside.Set(op.shard, op.quarantine)
		return
	}
	c.aside.Delete(op.shard)
	if sh := c.shard(op.shard); sh != nil {
		c.putShard(shard.New(sh.ID, sh.Header)) // nothing that was read of it before is kept
	}
}

// valueOperation sets a record that the catalogue does not hold, or deletes it
// when the value is nil.
type valueOperation struct{ name, value []byte }

func (op valueOperation) key() []byte             { return op.name }
func (op valueOperation) encode() ([]byte, error) { return op.value, nil }
func (op valueOperation) apply(*catalogue)        {}

func peopleOperation(repository uint32, people People) operation {
	return valueOperation{keyPeople(repository), append([]byte{}, encodePeople(people)...)}
}

func nextRepositoryOperation(id uint32) operation {
	return valueOperation{keyNextRepository, binary.BigEndian.AppendUint32(nil, id)}
}
