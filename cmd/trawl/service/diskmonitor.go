package service

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// diskMonitor watches whether the disk takes writes and has space to index, and
// logs each change once.
type diskMonitor struct {
	// ready returns why nothing can be indexed now, and repairs the store if it
	// can.
	ready func() error
	// resume is called when indexing can go on.
	resume func()
	log    zerolog.Logger

	mu sync.Mutex // guards why
	// why indexing has stopped, nil if it has not.
	why error
}

// look finds out how it is now.
func (r *diskMonitor) look() {
	err := r.ready()
	if !stopsIndexing(err) {
		err = nil
	}
	r.mu.Lock()
	before := r.why
	r.why = err
	r.mu.Unlock()
	switch {
	case before == nil && err != nil:
		r.log.Warn().Err(err).Msg("indexing has stopped, searching goes on")
	case before != nil && err == nil:
		r.log.Info().Msg("the disk is well again, indexing goes on")
		r.resume()
	}
}

// stopped returns why indexing has stopped, or nil.
func (r *diskMonitor) stopped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// notice says in words for everybody why indexing has stopped, "" if it has not.
func (r *diskMonitor) notice() string {
	switch why := r.stopped(); {
	case why == nil:
		return ""
	case errors.Is(why, ingest.ErrLowDisk):
		return "indexing has stopped: the disk is nearly full"
	case errors.Is(why, store.ErrDiskFull):
		return "indexing has stopped: the disk is full"
	}
	return "indexing has stopped: the disk fails"
}

// reported reports whether err is one that the monitor logs, once for all tasks.
func (r *diskMonitor) reported(err error) bool {
	if !stopsIndexing(err) {
		return false
	}
	r.look()
	return r.stopped() != nil
}

// stopsIndexing reports whether err is of the disk, and not of one source.
func stopsIndexing(err error) bool {
	return errors.Is(err, ingest.ErrLowDisk) || errors.Is(err, store.ErrDiskFull) || errors.Is(err, store.ErrBroken)
}

// roomEvery is how often the disk is looked at.
const roomEvery = 5 * time.Second

// KeepRoom follows the disk until ctx ends: when it is nearly full or fails,
// indexing stops, and goes on by itself later.
func (s *Service) KeepRoom(ctx context.Context) {
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for {
		s.room.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Stopped returns why nothing is indexed for now, or nil.
func (s *Service) Stopped() error { return s.room.stopped() }

// Notice says that indexing is paused, if it is, in words for any client. The
// text of Stopped names directories and is for the operator.
func (s *Service) Notice() string { return s.room.notice() }

// resume has everything done that was left for want of room.
func (s *Service) resume() {
	s.upkeep.synced()
	s.resumed.set()
}
