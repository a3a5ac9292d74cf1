package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// ManyApart is a store with a shard for each repository, as programs made it that
// joined none, which a server opens and brings forward.
type ManyApart struct {
	// Made is how long it took to make, Shards how many there were then.
	Made   time.Duration `json:"madeNanos"`
	Shards int           `json:"shards"`
	// Ready is how long the server took to be ready, First the time of its first
	// search, which is for an absent word.
	Ready time.Duration `json:"readyNanos"`
	First time.Duration `json:"firstNanos"`
	// Merged is the time until Left shards were left and nothing was at work, Absent
	// are the times of searches meanwhile.
	Merged time.Duration `json:"mergedNanos"`
	Left   int           `json:"left"`
	Absent Percentiles   `json:"absent"`
	// PeakBytes is the most the server was resident with.
	PeakBytes int64 `json:"peakBytes"`
}

// apart serves a store of shards that were not joined.
func (m *manyRun) apart(ctx context.Context) (err error) {
	if !m.Apart {
		return nil
	}
	m.Note("making a store with a shard for each repository")
	facts := &ManyApart{}
	start := time.Now()
	if facts.Shards, err = m.fleet.writeApart(ctx, m.apartDir()); err != nil {
		return err
	}
	facts.Made = time.Since(start)
	m.Note("opening it")
	s, err := m.startServer(ctx, m.apartDir())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	m.report.Apart = facts
	facts.Ready = s.ready
	watch := watchTree(s.cmd.Process.Pid)
	defer func() { facts.PeakBytes = watch.stop().own }()
	start = time.Now()
	var took []time.Duration
	idleSince, ticks := time.Now(), cpuTicks(s.cmd.Process.Pid)
	for time.Since(start) < idleWithin {
		a, err := s.search(ctx, absentWord, "keyword", nil)
		if err != nil {
			return err
		}
		if a.Results != 0 || len(a.Incomplete) > 0 {
			m.problem("shards apart, %s: %d matches, incomplete: %q", absentWord, a.Results, a.Incomplete)
		}
		took = append(took, a.Done)
		if !pause(ctx, probeEvery) {
			return context.Cause(ctx)
		}
		now := cpuTicks(s.cmd.Process.Pid)
		if float64(now-ticks) > apartShare*ticksPerSecond*probeEvery.Seconds() {
			idleSince = time.Now()
		}
		if ticks = now; time.Since(idleSince) >= m.Idle {
			break
		}
	}
	facts.First, facts.Merged, facts.Absent = took[0], idleSince.Sub(start), percentiles(took[1:])
	values, err := scrape(ctx, &s.operator.client, s.metrics)
	if err != nil {
		return err
	}
	facts.Left = int(values["trawl_index_shards"])
	for _, q := range m.questions() {
		a, err := s.answer(ctx, q)
		if err != nil {
			return err
		}
		if a.Results != q.want {
			m.problem("shards apart, %s: %d matches, want %d", q.text, a.Results, q.want)
		}
	}
	return nil
}

// apartShare is the part of a processor that a server takes at least while it
// merges, and does not take for searches.
const apartShare = 0.3

func (m *manyRun) apartDir() string { return filepath.Join(m.Work, "apart") }

// writeApart writes a store with all repositories, each in a shard of its own, and
// returns how many shards there are.
func (f *fleet) writeApart(ctx context.Context, dir string) (shards int, err error) {
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	indexer := ingest.New(st, ingest.Options{HistoryCommits: -1, HistoryDiffs: -1})
	for i := range f.n {
		r := f.repository(i)
		if _, err := indexer.Add(ctx, ingest.Source{Name: r.name, Location: f.dirOf(r)}); err != nil {
			return 0, err
		}
		if _, err := indexer.Sync(ctx, r.name, nil); err != nil && !r.empty {
			return 0, fmt.Errorf("index %s: %w", r.name, err)
		}
	}
	return st.Metrics().Shards, nil
}
