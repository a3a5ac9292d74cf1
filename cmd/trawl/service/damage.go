package service

import (
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Health reports the parts that are damaged and out of service.
func (s *Service) Health() store.Health { return s.store.Health() }

// setAside takes a damaged shard out of service and has it fetched again, or its
// repositories indexed anew where nothing is shared with other nodes. Searches call it,
// any number at once.
func (s *Service) setAside(shard uint32, damage error) {
	first, err := s.store.SetAside(shard, damage, time.Now())
	if !first {
		return
	}
	log := s.opts.Log.Error().Uint32("shard", shard).AnErr("damage", damage)
	if err != nil {
		log = log.Err(err)
	}
	if s.store.Shares() {
		log.Msg("set a damaged shard aside, it is fetched again")
	} else {
		log.Msg("set a damaged shard aside, its repositories are indexed anew")
	}
	s.rebuild(shard)
}

// rebuild queues the repositories of a quarantined shard. After their syncs
// their commits are read as well. A sync waits until the shard was fetched again, and
// finds nothing to do then.
func (s *Service) rebuild(shard uint32) {
	for _, d := range s.store.Health().Aside {
		if d.Shard != shard {
			continue
		}
		for _, r := range d.Repositories {
			s.Refresh(r.Name)
		}
	}
}
