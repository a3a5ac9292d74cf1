package service_test

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

// pushObserver notes how long pushes took.
type pushObserver struct {
	service.Observer

	mu   sync.Mutex
	took []time.Duration
}

func (*pushObserver) Searched(context.Context, service.Searched) {}

func (*pushObserver) Worked(service.Work, service.WorkOutcome, time.Duration) {}

func (o *pushObserver) Pushed(took time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.took = append(o.took, took)
}

func (o *pushObserver) all() []time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.took)
}

// A commit in a repository of this machine is searched soon, without a look at it from
// time to time, and how long that took is measured.
func TestLocalCommitIsSearchedSoon(t *testing.T) {
	set := config.Defaults(config.Machine{MemoryBytes: 1 << 30})
	set.Data, set.MinFreeBytes, set.AllowLocalSources = t.TempDir(), 0, true
	o := &pushObserver{}
	s, err := service.Open(t.Context(), set, service.Options{Log: zerolog.Nop(), Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	defer func() {
		cancel()
		s.Stop()
		working.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	dir := filepath.Join(t.TempDir(), "kiln")
	commit(t, dir, "a.txt", "clay")
	if _, err := s.Repositories().Add(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	working.Go(func() {
		y := &service.Syncer{Service: s, Interval: time.Hour, Stay: true, Watch: true, Log: zerolog.Nop(), Display: progress.Lines(io.Discard, time.Now)}
		y.Run(ctx, nil, func() {})
	})
	eventually(t, "the first sync", func() bool { return found(t, s, "clay") == 1 })
	var took []time.Duration
	for _, word := range []string{"glaze", "oven", "wheel"} {
		commit(t, dir, word+".txt", word)
		start := time.Now()
		eventually(t, "a result for a commit", func() bool { return found(t, s, word) == 1 })
		took = append(took, time.Since(start))
	}
	eventually(t, "three measures", func() bool { return len(o.all()) == 3 })
	t.Logf("searched %s after a commit; from the first event on it took %s", took, o.all())
	st, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(st.Repositories.Lags, func(l admin.StatusLag) bool { return l.PushSeconds > 0 }); i < 0 {
		t.Errorf("no lag of the push in %+v", st.Repositories.Lags)
	}
}
