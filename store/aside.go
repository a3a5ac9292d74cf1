package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// SetAside takes a shard out of service for its damage. It reports false, and
// does nothing, if it is out already, or gone. It holds at once in any case, and
// over a restart unless the store takes no more: the error says so.
func (s *Store) SetAside(id uint32, damage error, now time.Time) (first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalogue.shards[id] == nil || s.catalogue.aside[id] != nil {
		return false, nil
	}
	// The data that was read there, such as a path, is not for every user.
	if e := (*shard.Error)(nil); errors.As(damage, &e) {
		damage = e.Err
	}
	a := &shard.Quarantine{Since: now.UTC(), Reason: engine.Message(damage)}
	if err := s.commit(Change{aside: map[uint32]*shard.Quarantine{id: a}}); err != nil {
		next := s.catalogue.clone()
		next.aside[id] = a
		next.sort()
		s.catalogue = next
		s.versions.replaceCatalogue(next)
		return true, fmt.Errorf("set shard %d aside: %w", id, err)
	}
	return true, nil
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
	m := s.versions.hold()
	defer s.versions.release(m)
	return m.catalogue.health()
}

// Health reports the faults that were known when the snapshot was taken.
func (sn *Snapshot) Health() Health { return sn.c.health() }

// LostRepositories counts the repositories whose records cannot be read.
func (sn *Snapshot) LostRepositories() int { return len(sn.c.lost) }

func (c *catalogue) health() Health {
	h := Health{Records: c.unread, LostRepositories: len(c.lost)}
	for id, a := range c.aside {
		h.Aside = append(h.Aside, DamagedShardInfo{Quarantine: *a, Shard: id, Repositories: c.of(id)})
	}
	slices.SortFunc(h.Aside, func(a, b DamagedShardInfo) int { return int(a.Shard) - int(b.Shard) })
	return h
}

// of returns the repositories that have something in a shard, by ID.
func (c *catalogue) of(shard uint32) []*Repository {
	var out []*Repository
	for _, r := range c.repositories {
		if slices.Contains(r.Shards, shard) || slices.Contains(r.History.Shards, shard) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Repository) int { return int(a.ID) - int(b.ID) })
	return out
}

// dropUnwanted adds the quarantined shards that no repository refers to any
// more to drop.
func (c *catalogue) dropUnwanted(drop []uint32) []uint32 {
	if len(c.aside) == 0 {
		return drop
	}
	wanted := map[uint32]bool{}
	for _, r := range c.repositories {
		for _, id := range slices.Concat(r.Shards, r.History.Shards) {
			wanted[id] = true
		}
	}
	for id := range c.aside {
		if !wanted[id] && !slices.Contains(drop, id) {
			drop = append(drop, id)
		}
	}
	return drop
}

// loadAside takes the record of a quarantined shard into the catalogue. Its
// damage is not worth failing for.
func (c *catalogue) loadAside(id uint32, value []byte) {
	a := &shard.Quarantine{}
	if err := json.Unmarshal(value, a); err != nil {
		a.Reason = "damaged, and so is the record that says how"
	}
	c.setAside(id, a.Reason)
	c.aside[id].Since = a.Since
}

// setAside is for what is found when the store is opened; the first reason
// stays.
func (c *catalogue) setAside(id uint32, reason string) {
	if c.shards[id] == nil {
		c.shards[id] = shard.New(id, shard.Header{ID: id})
	}
	if c.aside[id] == nil {
		c.aside[id] = &shard.Quarantine{Reason: reason}
	}
}
