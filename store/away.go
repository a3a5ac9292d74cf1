package store

import (
	"encoding/binary"
	"fmt"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/decode"
	"github.com/trawlsearch/trawl/store/shard"
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

// setAway changes the table, but no tree that another one shares.
func (t *shardTable) setAway(of ShardRepository, sets []*postings.Set) {
	inner := &shard.Exclusions{}
	if old, found := t.away.Get(of.Shard); found {
		inner = old.Copy()
	}
	if sets != nil {
		inner.Set(of.Repository, sets)
	} else {
		inner.Delete(of.Repository)
	}
	if inner.Len() > 0 {
		t.away.Set(of.Shard, inner)
	} else {
		t.away.Delete(of.Shard)
	}
}
