package service

import (
	"context"
	"time"
)

// fetchedEvery is how often it is written when sources were looked at that have
// not changed. A server that is killed forgets as much of it; one that ends
// writes it.
const fetchedEvery = time.Hour

// keepFetched writes when sources were looked at, every now and then until ctx
// ends.
func (s *Service) keepFetched(ctx context.Context) {
	tick := time.NewTicker(fetchedEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.writeFetched()
		}
	}
}

// writeFetched writes when sources were looked at. Nothing is lost by an error but
// the time of looks.
func (s *Service) writeFetched() {
	if err := s.store.Repositories().WriteFetched(); err != nil && !s.disk.reported(err) {
		s.opts.Log.Warn().Err(err).Msg("write when sources were looked at")
	}
}
