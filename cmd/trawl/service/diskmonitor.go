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

// DiskMonitor watches whether the disk takes writes and has space to index, and
// logs each change once.
type DiskMonitor struct {
	// ready returns why nothing can be indexed now, and repairs the store if it
	// can.
	ready func() error
	// resume is called when indexing can go on, and resumed is set then.
	resume  func()
	resumed signal
	log     zerolog.Logger

	mu sync.Mutex // guards why
	// why indexing has stopped, nil if it has not.
	why error
}

// look finds out how it is now.
func (m *DiskMonitor) look() {
	err := m.ready()
	if !stopsIndexing(err) {
		err = nil
	}
	m.mu.Lock()
	before := m.why
	m.why = err
	m.mu.Unlock()
	switch {
	case before == nil && err != nil:
		m.log.Warn().Err(err).Msg("indexing has stopped, searching goes on")
	case before != nil && err == nil:
		m.log.Info().Msg("the disk is well again, indexing goes on")
		m.resume()
		m.resumed.set()
	}
}

// stopped returns why indexing has stopped, or nil.
func (m *DiskMonitor) stopped() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.why
}

// Notice says that indexing has stopped, if it has, in words for any client. What stopped
// returns names directories and is for the operator.
func (m *DiskMonitor) Notice() string {
	switch why := m.stopped(); {
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
func (m *DiskMonitor) reported(err error) bool {
	if !stopsIndexing(err) {
		return false
	}
	m.look()
	return m.stopped() != nil
}

// stopsIndexing reports whether err is of the disk, and not of one source.
func stopsIndexing(err error) bool {
	return errors.Is(err, ingest.ErrLowDisk) || errors.Is(err, store.ErrDiskFull) || errors.Is(err, store.ErrBroken)
}

// lookEvery is how often the disk is looked at.
const lookEvery = 5 * time.Second

// Keep follows the disk until ctx ends: when it is nearly full or fails,
// indexing stops, and goes on by itself later.
func (m *DiskMonitor) Keep(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		m.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
