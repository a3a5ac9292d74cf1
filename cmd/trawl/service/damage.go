package service

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/store"
)

// quarantine takes damaged shards out of service.
type quarantine struct {
	store *store.Store
	log   zerolog.Logger
	// refresh has a repository synced.
	refresh func(name string)
}

// setAside takes a damaged shard out of service and has it fetched again, or its
// repositories indexed anew where nothing is shared with other nodes. Searches call it,
// any number at once.
func (q *quarantine) setAside(shard uint32, damage error) {
	first, err := q.store.SetAside(shard, damage, time.Now())
	if !first {
		return
	}
	log := q.log.Error().Uint32("shard", shard).AnErr("damage", damage)
	if err != nil {
		log = log.Err(err)
	}
	if q.store.Node().Shares() {
		log.Msg("set a damaged shard aside, it is fetched again")
	} else {
		log.Msg("set a damaged shard aside, its repositories are indexed anew")
	}
	q.rebuild(shard)
}

// rebuild queues the repositories of a quarantined shard. After their syncs
// their commits are read as well. A sync waits until the shard was fetched again, and
// finds nothing to do then.
func (q *quarantine) rebuild(shard uint32) {
	for _, d := range q.store.Health().Aside {
		if d.Shard != shard {
			continue
		}
		for _, r := range d.Repositories {
			q.refresh(r.Name)
		}
	}
}
