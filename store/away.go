package store

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/decode"
)

// MaxBranches is how many branches of a repository can be indexed, the default
// branch among them.
const MaxBranches = 64

// ShardRepository is the share of a repository in a shard.
type ShardRepository struct{ Shard, Repository uint32 }

// The record of the documents away from branches is, for each branch in the
// order of the repository's:
//
//	uvarint length, an encoded postings.Set; length 0 is the empty set
//
// It names what a branch lacks rather than what it holds, so that it is small,
// or not there, where branches agree.
func encodeAway(sets []*postings.Set) []byte {
	var out, value []byte
	for _, set := range sets {
		value = value[:0]
		if set != nil && set.Len() > 0 {
			value = postings.Encode(value, set)
		}
		out = append(binary.AppendUvarint(out, uint64(len(value))), value...)
	}
	return out
}

func decodeAway(value []byte) ([]*postings.Set, error) {
	r := decode.Reader{Rest: value}
	var out []*postings.Set
	for len(r.Rest) > 0 && len(out) < MaxBranches {
		encoded := r.Bytes(r.Count())
		if r.Bad {
			break
		}
		var set *postings.Set
		if len(encoded) > 0 {
			set = &postings.Set{}
			if err := set.Decode(encoded); err != nil {
				return nil, err
			}
		}
		out = append(out, set)
	}
	if r.Bad || len(r.Rest) > 0 {
		return nil, fmt.Errorf("branches: %w", ErrCorrupt)
	}
	return out, nil
}

// loadAway takes a record into the catalogue.
func (c *catalogue) loadAway(shard uint32, key, value []byte) {
	of := ShardRepository{shard, binary.BigEndian.Uint32(key[5:])}
	sets, err := decodeAway(value)
	switch {
	case err == nil:
		c.setAway(of, sets)
	case c.shards[shard] != nil:
		c.setAside(shard, fmt.Sprintf("the record of what its branches hold is damaged: %v", err))
		c.setAway(of, []*postings.Set{}) // so that it goes with the shard
	}
}

// setAway changes the catalogue, but no map that another one shares.
func (c *catalogue) setAway(of ShardRepository, sets []*postings.Set) {
	inner := maps.Clone(c.away[of.Shard])
	if inner == nil {
		inner = map[uint32][]*postings.Set{}
	}
	if inner[of.Repository] = sets; sets == nil {
		delete(inner, of.Repository)
	}
	if c.away[of.Shard] = inner; len(inner) == 0 {
		delete(c.away, of.Shard)
	}
}

func (c *catalogue) putAway(b *batch, of ShardRepository, sets []*postings.Set) {
	c.setAway(of, sets)
	if sets == nil {
		b.delete(keyAway(of))
		return
	}
	b.set(keyAway(of), encodeAway(sets))
}

// dropAway forgets a shard, forgetAway a repository.
func (c *catalogue) dropAway(b *batch, id uint32) {
	for repository := range c.away[id] {
		b.delete(keyAway(ShardRepository{id, repository}))
	}
	delete(c.away, id)
}

func (c *catalogue) forgetAway(b *batch, repository uint32) {
	for id, inner := range c.away {
		if inner[repository] != nil {
			c.putAway(b, ShardRepository{id, repository}, nil)
		}
	}
}
