package ingest

import (
	"fmt"
	"slices"

	"github.com/trawlsearch/trawl/store"
)

// Repositories that different people may see do not share shards for longer
// than until the next merge. A user who may not see a repository gets no
// results from it either way. But the lengths of a shard's lists depend on all
// its documents, and show in the time of a search.

// circles returns the readers of the repositories of a snapshot, as texts that
// are equal for the same readers.
type circles map[uint32]string

func newCircles(sn *store.Snapshot) circles {
	out := circles{}
	for _, r := range sn.Repositories() {
		out[r.ID] = circleOf(r.Readers)
	}
	return out
}

// circleOf returns "" for everyone.
func circleOf(r *store.Readers) string {
	if r == nil {
		return ""
	}
	return fmt.Sprint(r.Users, r.Orgs)
}

// byShard returns whose documents each shard holds: more than one circle for
// one that is to be rewritten apart.
func (c circles) byShard(sn *store.Snapshot) map[uint32][]string {
	out := map[uint32][]string{}
	for _, r := range sn.Repositories() {
		for _, id := range slices.Concat(r.Shards, r.History.Shards) {
			if !slices.Contains(out[id], c[r.ID]) {
				out[id] = append(out[id], c[r.ID])
			}
		}
	}
	return out
}
