package ingest

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// docRef is where a document stands.
type docRef struct {
	shard uint32
	doc   uint16
}

// fileKey is what makes two files one document, whatever branches they are on.
type fileKey struct {
	path, oid string
	mode      uint32
}

// liveSet are the live documents of one repository.
type liveSet map[fileKey]*liveDocument

type liveDocument struct {
	docRef
	// held has a bit for each branch of the next generation that has it.
	held uint64
}

// unkept lists the documents that are not part of the next generation.
func (l liveSet) unkept() []docRef {
	var out []docRef
	for _, d := range l {
		if d.held == 0 {
			out = append(out, d.docRef)
		}
	}
	return out
}

// liveDocuments lists the documents of r's generation, except those in
// quarantined shards.
func liveDocuments(ctx context.Context, sn *store.Snapshot, r *store.Repository) (liveSet, error) {
	live := make(liveSet, r.Documents)
	for _, id := range r.Shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, ok := sn.Shard(id)
		if !ok || v.Quarantine != nil {
			continue
		}
		docs, err := v.Documents()
		if err != nil {
			return nil, err
		}
		for i := range docs.Len() {
			if docs.Repository[i] != r.ID || v.Dead != nil && v.Dead.Contains(uint16(i)) {
				continue
			}
			key := fileKey{docs.Path(i), hex.EncodeToString(docs.OID(i)), docs.Mode[i]}
			live[key] = &liveDocument{docRef: docRef{id, uint16(i)}}
		}
	}
	return live, nil
}

// bury returns the sets of dead documents with those at places added, and the
// shards in which none is left alive. added are shards that are yet to be part of
// the store.
func bury(sn *store.Snapshot, added []shard.Header, places []docRef) (dead map[uint32]*postings.Set, drop []uint32) {
	byShard := map[uint32][]uint16{}
	for _, p := range places {
		byShard[p.shard] = append(byShard[p.shard], p.doc)
	}
	dead = map[uint32]*postings.Set{}
	for id, docs := range byShard {
		set, documents := &postings.Set{}, 0
		if v, ok := sn.Shard(id); ok {
			documents = v.Header.Documents
			if v.Dead != nil {
				set = v.Dead.Clone()
			}
		} else if n := slices.IndexFunc(added, func(h shard.Header) bool { return h.ID == id }); n >= 0 {
			documents = added[n].Documents
		} else {
			continue
		}
		for _, d := range docs {
			set.Add(d)
		}
		if set.Len() == documents {
			drop = append(drop, id)
			continue
		}
		dead[id] = set
	}
	return dead, drop
}
