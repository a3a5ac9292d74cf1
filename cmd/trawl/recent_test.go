package main

import (
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

// TestRecentWork: an hour is kept, however much is done in it.
func TestRecentWork(t *testing.T) {
	var r recentWork
	at := time.Unix(0, 0)
	for i := range 3 * mostSamples {
		for j := range 100 {
			r.searched(service.Searched{Took: time.Duration(j+1) * time.Millisecond, Text: "secret"}, false, false, at)
		}
		r.sample(admin.Status{Memory: admin.StatusMemory{Now: uint64(i)}, Queue: admin.StatusQueue{Waiting: 2, Fetching: 1}}, at)
		at = at.Add(sampleEvery)
	}
	for range 3 * mostDurations {
		r.searched(service.Searched{Took: time.Hour}, false, false, at)
	}
	r.sample(admin.Status{}, at)
	got := r.recent()
	if len(got.Samples) != mostSamples || len(got.Slow) != 0 {
		t.Fatalf("%d samples, %d slow ones are kept", len(got.Samples), len(got.Slow))
	}
	before, end := got.Samples[mostSamples-2], got.Samples[mostSamples-1]
	if before.Searches != 100 || before.Median != 51*time.Millisecond || before.P99 != 100*time.Millisecond || before.Waiting != 3 || before.MemoryBytes != 3*mostSamples-1 {
		t.Errorf("a sample is %+v", before)
	}
	if end.Searches != 3*mostDurations || end.P99 != time.Hour || !end.At.After(before.At) {
		t.Errorf("the last sample is %+v", end)
	}
	for i := range 2 * mostSlow {
		r.searched(service.Searched{Took: time.Duration(i), Text: strings.Repeat("x", 1000), Skipped: []string{"timeout"}}, true, i%2 == 0, at)
	}
	got = r.recent()
	if len(got.Slow) != mostSlow || got.Slow[0].Took != 2*mostSlow-1 || got.Slow[0].Text != "" || len(got.Slow[1].Text) != mostSlowText || got.Slow[0].Complete {
		t.Errorf("slow ones are %+v", got.Slow)
	}
}
