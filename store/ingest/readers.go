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

// circles are the readers of the restricted repositories of a snapshot, as texts
// that are equal for the same readers. All others have everyone, which is "".
type circles map[uint32]string

func newCircles(sn *store.Snapshot) circles {
	out := circles{}
	for r := range sn.Marked(store.MarkRestricted) {
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

// byShard returns whose documents each shard holds.
func (c circles) byShard(sn *store.Snapshot) map[uint32][]string {
	out := map[uint32][]string{}
	for _, v := range sn.Shards() {
		out[v.ID] = c.of(sn, v.ID)
	}
	return out
}

// of returns whose documents a shard holds: more than one circle for one that is
// to be rewritten apart.
func (c circles) of(sn *store.Snapshot, shard uint32) []string {
	if len(c) == 0 {
		return []string{""}
	}
	var out []string
	for id := range sn.ShardRepositories(shard) {
		if !slices.Contains(out, c[id]) {
			out = append(out, c[id])
		}
	}
	return out
}
