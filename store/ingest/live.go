package ingest

import (
	"context"
	"encoding/hex"

	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
)

// place is where a document stands.
type place struct {
	shard uint32
	doc   uint16
}

// liveSet are the live documents of one repository by path.
type liveSet map[string]*liveDocument

type liveDocument struct {
	place
	oid  string
	mode uint32
	// kept says that the next generation has it too.
	kept bool
}

// unkept lists the documents that are not part of the next generation.
func (l liveSet) unkept() []place {
	var out []place
	for _, d := range l {
		if !d.kept {
			out = append(out, d.place)
		}
	}
	return out
}

// liveDocuments lists the documents of r's generation.
func liveDocuments(ctx context.Context, sn *store.Snapshot, r *store.Repository) (liveSet, error) {
	live := make(liveSet, r.Documents)
	for _, id := range r.Shards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, ok := sn.Shard(id)
		if !ok {
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
			live[docs.Path(i)] = &liveDocument{place: place{id, uint16(i)}, oid: hex.EncodeToString(docs.OID(i)), mode: docs.Mode[i]}
		}
	}
	return live, nil
}

// bury returns the sets of dead documents with those at places added, and the
// shards in which none is left alive.
func bury(sn *store.Snapshot, places []place) (dead map[uint32]*postings.Set, drop []uint32) {
	byShard := map[uint32][]uint16{}
	for _, p := range places {
		byShard[p.shard] = append(byShard[p.shard], p.doc)
	}
	dead = map[uint32]*postings.Set{}
	for id, docs := range byShard {
		v, ok := sn.Shard(id)
		if !ok {
			continue
		}
		set := &postings.Set{}
		if v.Dead != nil {
			set = v.Dead.Clone()
		}
		for _, d := range docs {
			set.Add(d)
		}
		if set.Len() == v.Header.Documents {
			drop = append(drop, id)
			continue
		}
		dead[id] = set
	}
	return dead, drop
}
