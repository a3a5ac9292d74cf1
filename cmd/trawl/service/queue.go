package service

import (
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/store/ingest"
)

// queue is what is synced now and what waits for that. It only watches: the
// order is that of Service.turn and the Syncer.
type queue struct {
	mu sync.Mutex // guards all below
	// running is the repository that is synced, "" if none is.
	running string
	began   time.Time
	now     ingest.Progress
	// waiting counts those who wait for their turn, next the repositories that a
	// round has still to look at.
	waiting, next int
}

// enter counts one more that waits; what it returns is called when it does no
// more.
func (q *queue) enter() (left func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.waiting--
	}
}

// begin notes a sync and listens to its report.
func (q *queue) begin(name string, at time.Time, report func(ingest.Progress)) (func(ingest.Progress), func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running, q.began, q.now = name, at, ingest.Progress{}
	listen := func(p ingest.Progress) {
		q.mu.Lock()
		q.now = p
		q.mu.Unlock()
		if report != nil {
			report(p)
		}
	}
	return listen, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.running, q.now = "", ingest.Progress{}
	}
}

// toCome notes how many repositories a round has still to look at.
func (q *queue) toCome(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = n
}

// status tells of the queue; asked is how many are to be synced out of turn.
func (q *queue) status(asked int) httpapi.StatusQueue {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := httpapi.StatusQueue{Running: q.running, Phase: q.now.Phase, Done: q.now.Done, Total: q.now.Total, Waiting: q.waiting + q.next + asked}
	if q.running != "" {
		s.Since = q.began.UTC()
	}
	return s
}
