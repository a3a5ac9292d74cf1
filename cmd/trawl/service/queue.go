package service

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/ingest"
)

// queue has the running and the waiting syncs. It only watches: the order is
// that of the Indexer, turns and the Syncer.
type queue struct {
	mu sync.Mutex // guards all below
	// at are the syncs at work and those that wait for their turn.
	at []*syncing
	// next counts the repositories that a Syncer has still to look at.
	next int
}

// syncing is a sync that has begun.
type syncing struct {
	name  string
	began time.Time
	now   ingest.Progress
}

// begin notes a sync and listens to its report.
func (q *queue) begin(name string, at time.Time, report func(ingest.Progress)) (func(ingest.Progress), func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := &syncing{name: name, began: at}
	q.at = append(q.at, one)
	listen := func(p ingest.Progress) {
		q.mu.Lock()
		one.now = p
		q.mu.Unlock()
		if report != nil {
			report(p)
		}
	}
	return listen, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.at = slices.DeleteFunc(q.at, func(s *syncing) bool { return s == one })
	}
}

// toCome notes how many repositories have still to be looked at.
func (q *queue) toCome(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = n
}

// stage is the stage of a sync.
type stage int

const (
	stageIndexes stage = iota
	stageFetches
	stageWaits
)

func (s *syncing) stage() stage {
	switch s.now.Phase {
	case "", "fetch":
		return stageFetches
	case "wait":
		return stageWaits
	}
	return stageIndexes
}

// status describes the queue: the repository that is being indexed, else the
// one that has been fetched for longest. asked is how many are to be synced out
// of turn.
func (q *queue) status(asked int) admin.StatusQueue {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := admin.StatusQueue{Waiting: q.next + asked}
	var shown *syncing
	for _, one := range q.at {
		if one.stage() == stageWaits {
			s.Waiting++
			continue
		}
		if one.stage() == stageFetches {
			s.Fetching++
		}
		if shown == nil || cmp.Less(one.stage(), shown.stage()) {
			shown = one
		}
	}
	if shown != nil {
		s.Running, s.Since = shown.name, shown.began.UTC()
		s.Phase, s.Done, s.Total = shown.now.Phase, shown.now.Done, shown.now.Total
	}
	return s
}

// running returns the syncs at work, those that were begun first coming first.
func (q *queue) running() []manage.Syncing {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]manage.Syncing, 0, len(q.at))
	for _, one := range q.at {
		out = append(out, manage.Syncing{Name: one.name, Since: one.began.UTC(), Phase: one.now.Phase, Done: one.now.Done, Total: one.now.Total})
	}
	// What waits for another says less than what it waits for.
	slices.SortStableFunc(out, func(a, b manage.Syncing) int { return cmp.Compare(waiting(a.Phase), waiting(b.Phase)) })
	return out
}

func waiting(phase string) int {
	if phase == "wait" {
		return 1
	}
	return 0
}

// Syncing returns the syncs at work.
func (rs *Repositories) Syncing() []manage.Syncing { return rs.queue.running() }
