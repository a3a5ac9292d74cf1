package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// SetAside takes a shard out of service for its damage. In a store that shares a log it
// is fetched again. It reports false, and
// does nothing, if it is out already, or gone. It holds at once in any case, and
// over a restart unless the store takes no more: the error says so.
func (s *Store) SetAside(id uint32, damage error, now time.Time) (first bool, err error) {
	// The data that was read there, such as a path, is not for every user.
	if e := (*shard.Error)(nil); errors.As(damage, &e) {
		damage = e.Err
	}
	first, err = s.committer.setAside(id, &shard.Quarantine{Since: now.UTC(), Reason: engine.Message(damage)}, s.node.note)
	if err != nil {
		err = fmt.Errorf("set shard %d aside: %w", id, err)
	}
	return first, err
}

// DamagedShardInfo is one quarantined shard, with the repositories to index
// anew to replace it.
type DamagedShardInfo struct {
	shard.Quarantine
	Shard        uint32
	Repositories []*Repository
}

// Health are the faults of a store that is served all the same.
type Health struct {
	// Aside are the quarantined shards, by number.
	Aside []DamagedShardInfo
	// Records are small records that could not be read, in words. Those of
	// repositories are counted in LostRepositories as well.
	Records          []string
	LostRepositories int
}

// Health reports the faults that have been noticed so far.
func (s *Store) Health() Health {
	m := s.committer.versions.hold()
	defer s.committer.versions.release(m)
	return m.catalogue.health()
}

// Health reports the faults that were known when the snapshot was taken.
func (sn *Snapshot) Health() Health { return sn.c.health() }

// LostRepositories counts the repositories whose records cannot be read.
func (sn *Snapshot) LostRepositories() int { return len(sn.c.lost) }

func (c *catalogue) health() Health {
	h := Health{Records: c.unread, LostRepositories: len(c.lost)}
	c.aside.Scan(func(id uint32, a *shard.Quarantine) bool {
		h.Aside = append(h.Aside, DamagedShardInfo{Quarantine: *a, Shard: id, Repositories: c.of(id)})
		return true
	})
	return h
}
