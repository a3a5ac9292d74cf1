package service

import (
	"fmt"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// TestLags: so many of 100 repositories were looked at within the time that is said of
// them, and those looked at longest ago come first.
func TestLags(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		repositories        int
		median, p99, oldest float64
	}{{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 1, 2, 2}, {3, 2, 3, 3}, {100, 50, 99, 100}, {10_000, 5000, 9900, 10_000}} {
		var all []*store.Repository
		for n := range c.repositories {
			all = append(all, &store.Repository{Name: fmt.Sprint(n), LastFetched: now.Add(-time.Duration(n+1) * time.Second)})
		}
		got := lags(all, now, func(uint32) float64 { return 0 })
		if got.MedianSeconds != c.median || got.P99Seconds != c.p99 || got.OldestSeconds != c.oldest || len(got.Lags) != c.repositories {
			t.Errorf("%d repositories: got %v, %v and %v; want %+v", c.repositories, got.MedianSeconds, got.P99Seconds, got.OldestSeconds, c)
		}
		if c.repositories > 0 && got.Lags[0].Seconds != c.oldest {
			t.Errorf("%d repositories: the first was looked at %v seconds ago, want %v", c.repositories, got.Lags[0].Seconds, c.oldest)
		}
	}
}
