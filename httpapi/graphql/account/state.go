package account

import (
	"slices"
	"time"

	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/store"
)

// The states of a repository's copy.
const (
	notCloned = "NOT_CLONED"
	Cloning   = "CLONING"
	Cloned    = "CLONED"
)

// CloneStatusOf tells a repository that was never read, because it cannot be or
// because its turn has not come, from one that was.
func CloneStatusOf(r *store.Repository) string {
	switch {
	case !r.Fetched().IsZero() || r.Indexed():
		return Cloned
	case r.LastError != "":
		return notCloned
	case !r.Mirror: // its source is on this machine
		return Cloned
	}
	return Cloning
}

// CorruptionLog is the type RepoCorruptionLog.
type CorruptionLog struct {
	Timestamp wire.DateTime
	Reason    string
}

// Damage tells of the shards of a repository that are set aside.
func (s *Session) Damage(r *store.Repository) []CorruptionLog {
	out := []CorruptionLog{}
	for _, d := range s.Snapshot().Health().Aside {
		if slices.ContainsFunc(d.Repositories, func(o *store.Repository) bool { return o.ID == r.ID }) {
			out = append(out, CorruptionLog{wire.DateTime{Time: d.Since}, d.Reason})
		}
	}
	return out
}

// CreatedAt is when a repository was added. Records of before that was kept
// have the first thing that is known.
func CreatedAt(r *store.Repository) time.Time {
	for _, t := range []time.Time{r.Created, r.LastIndexed, r.LastFetched} {
		if !t.IsZero() {
			return t
		}
	}
	return time.Unix(0, 0)
}
