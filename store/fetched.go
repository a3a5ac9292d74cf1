package store

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// Sources that have not changed are looked at all day. When that was is kept in
// memory, with the records of all versions, and written with the next change of
// the record or by WriteFetched.

// fetchedAt is the time of the last look at a source, in nanoseconds since 1970;
// 0 is none. All versions of a record share it.
type fetchedAt = atomic.Int64

// Fetched returns when the source was last looked at with success: LastFetched,
// or what NoteFetched said since. It may change between two calls.
func (r *Repository) Fetched() time.Time {
	if r.fetched != nil {
		if noted := time.Unix(0, r.fetched.Load()).UTC(); noted.After(r.LastFetched) && noted.Unix() > 0 {
			return noted
		}
	}
	return r.LastFetched
}

// NoteFetched notes that the source was looked at with success, and was as it is
// recorded. It writes nothing, and changes all versions of the record.
func (r *Repository) NoteFetched(at time.Time) {
	if r.fetched == nil {
		return
	}
	for next := at.UnixNano(); ; {
		old := r.fetched.Load()
		if next <= old || r.fetched.CompareAndSwap(old, next) {
			return
		}
	}
}

// shareFetched makes r the next version of old, nil for none, with what was noted.
func (r *Repository) shareFetched(old *Repository) {
	r.followFetched(old)
	r.LastFetched = r.Fetched()
}

// followFetched has r share what is noted with old, nil for none.
func (r *Repository) followFetched(old *Repository) {
	switch {
	case old != nil && old.fetched != nil:
		r.fetched = old.fetched
	case r.fetched == nil:
		r.fetched = new(fetchedAt)
	}
}

// fetchedAtOnce is how many records are written in one commit.
const fetchedAtOnce = 1000

// WriteFetched writes what NoteFetched said since the last change of each record.
// It is one commit for a thousand of them.
func (rs Repositories) WriteFetched() error {
	var noted []uint32
	m := rs.s.committer.versions.hold()
	m.catalogue.listed.Scan(func(r *Repository) bool {
		if r.Fetched().After(r.LastFetched) {
			noted = append(noted, r.ID)
		}
		return true
	})
	rs.s.committer.versions.release(m)
	for some := range slices.Chunk(noted, fetchedAtOnce) {
		err := rs.s.Update(func(tx *Tx) error {
			for _, id := range some {
				if r := tx.sn.c.repository(id); r != nil {
					next := *r
					tx.Change.Repositories = append(tx.Change.Repositories, &next)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("write when sources were looked at: %w", err)
		}
	}
	return nil
}
