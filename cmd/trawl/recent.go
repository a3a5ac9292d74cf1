package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const (
	// sampleEvery and mostSamples are an hour.
	sampleEvery = 15 * time.Second
	mostSamples = 240
	// mostDurations is of how many searches between two samples the times are kept;
	// the others take the places of earlier ones.
	mostDurations = 2048
	mostSlow      = 20
	mostSlowText  = 300
)

// recentWork keeps what the server did in the last hour. It is safe for concurrent use.
type recentWork struct {
	mu sync.Mutex // guards all below
	// samples and slow have the oldest first.
	samples []admin.Sample
	slow    []admin.SlowSearch
	// searches counts those since the last sample, durations has the times of some.
	searches  int
	durations []time.Duration
}

// searched notes a search that is over; slow says that it took long, and text that its
// query may be shown.
func (r *recentWork) searched(s service.Searched, slow, text bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.durations) < mostDurations {
		r.durations = append(r.durations, s.Took)
	} else {
		r.durations[r.searches%mostDurations] = s.Took
	}
	r.searches++
	if !slow {
		return
	}
	one := admin.SlowSearch{At: now, Took: s.Took, Kind: string(s.Kind), Matches: s.Matches, Outcome: string(s.Outcome), Complete: len(s.Skipped) == 0}
	if text {
		one.Text = strings.ToValidUTF8(s.Text[:min(len(s.Text), mostSlowText)], "")
	}
	r.slow = last(append(r.slow, one), mostSlow)
}

// sample notes how the server is.
func (r *recentWork) sample(s admin.Status, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := admin.Sample{
		At: now, Searches: r.searches, MemoryBytes: s.Memory.Now, Waiting: s.Queue.Waiting + s.Queue.Fetching, Failing: s.Repositories.Failing,
		Lag: time.Duration(s.Repositories.P99Seconds * float64(time.Second)), FreeBytes: s.Disk.Free,
	}
	if n := len(r.durations); n > 0 {
		slices.Sort(r.durations)
		one.Median, one.P99 = r.durations[n/2], r.durations[min(n-1, n*99/100)]
	}
	r.searches, r.durations = 0, r.durations[:0]
	r.samples = last(append(r.samples, one), mostSamples)
}

// recent returns what was noted.
func (r *recentWork) recent() admin.Recent {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := admin.Recent{Every: sampleEvery, Samples: slices.Clone(r.samples), Slow: slices.Clone(r.slow)}
	slices.Reverse(out.Slow)
	return out
}

// last drops the first of more than n.
func last[T any](all []T, n int) []T {
	if len(all) > n {
		return slices.Delete(all, 0, len(all)-n)
	}
	return all
}

// keepRecent samples the server until ctx ends.
func (h *host) keepRecent(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		if s, err := h.status(ctx); err == nil {
			h.recent.sample(s, time.Now())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
