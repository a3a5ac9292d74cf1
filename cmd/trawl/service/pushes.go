package service

import (
	"maps"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// pushes are those that code hosts and watched folders have reported. The zero value has
// none.
type pushes struct {
	mu sync.Mutex // guards all below
	// waiting is when the first push was reported that no sync has begun for, by the
	// number of its repository.
	waiting map[uint32]time.Time
	// took is how long the last push of a repository took until it was searched.
	took map[uint32]time.Duration
	// cost is how long the last sync of a repository took, without waiting.
	cost map[uint32]time.Duration
}

// reported notes a push.
func (p *pushes) reported(id uint32, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.waiting[id]; ok && !at.Before(first) {
		return
	}
	if p.waiting == nil {
		p.waiting = map[uint32]time.Time{}
	}
	p.waiting[id] = at
}

// begin returns when the first push was reported that a sync, which begins now, is for.
func (p *pushes) begin(id uint32) (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok = p.waiting[id]
	delete(p.waiting, id)
	return at, ok
}

// searched notes that a push is searched since so long.
func (p *pushes) searched(id uint32, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took == nil {
		p.took = map[uint32]time.Duration{}
	}
	p.took[id] = took
}

// seconds returns how long the last push of a repository took, 0 if there was none since
// this process began.
func (p *pushes) seconds(id uint32) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took[id].Seconds()
}

// synced notes how long a sync took.
func (p *pushes) synced(id uint32, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cost == nil {
		p.cost = map[uint32]time.Duration{}
	}
	p.cost[id] = took
}

// watchedShare is how many times as long as its last sync a repository rests whose folders
// change again and again: syncs of one that is large must not be all that is done.
const watchedShare = 4

// rest is how long a repository rests between two syncs that a watch asks for.
func (p *pushes) rest(id uint32) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return watchedShare * p.cost[id]
}

// keep forgets repositories that are not there any more.
func (p *pushes) keep(there map[uint32]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.waiting, func(id uint32, _ time.Time) bool { return !there[id] })
	maps.DeleteFunc(p.cost, func(id uint32, _ time.Duration) bool { return !there[id] })
	maps.DeleteFunc(p.took, func(id uint32, _ time.Duration) bool { return !there[id] })
}

// pushed has a repository synced that was pushed to.
func (rs *Repositories) pushed(r *store.Repository, at time.Time) {
	rs.pushes.reported(r.ID, at)
	rs.Refresh(r.Name)
}

// measured notes how long a push took that a sync has made searchable. A sync that fails
// leaves it to the next one.
func (rs *Repositories) measured(name string) (end func(changed bool, cost time.Duration, err error)) {
	r := rs.record(name)
	if r == nil {
		return func(bool, time.Duration, error) {}
	}
	at, ok := rs.pushes.begin(r.ID)
	return func(changed bool, cost time.Duration, err error) {
		if !r.Mirror {
			rs.pushes.synced(r.ID, cost)
		}
		switch {
		case !ok:
		case err != nil:
			rs.pushes.reported(r.ID, at)
		case changed:
			took := max(time.Since(at), 0)
			rs.pushes.searched(r.ID, took)
			if rs.background.observer != nil {
				rs.background.observer.Pushed(took)
			}
		}
	}
}
