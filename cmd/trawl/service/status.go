package service

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
)

// Status reports the state of the data directory, and the work on it.
func (s *Service) Status(ctx context.Context) (admin.Status, error) {
	m := s.store.Metrics()
	st := admin.Status{
		Format: int(store.FormatNewest), Data: s.Dir(),
		Queue:    s.repositories.queue.status(s.repositories.asked.len()),
		Searches: admin.StatusSearches{AtWork: s.searches.Working(), Waiting: s.searches.Waiting(), Most: s.searches.Most()},
		Index: admin.StatusIndex{
			Shards: m.Shards, Outdated: ingest.CountOutdated(s.store).Shards, Documents: m.Documents, Dead: m.Dead, TextBytes: uint64(m.TextBytes),
			CompactionDebtBytes: m.CompactionDebtBytes, Compactions: uint64(m.Compactions), CompactionsFailed: uint64(m.CompactionsFailed),
			WALBytes: m.WALBytes, MemTableBytes: m.MemTableBytes, ReadAmplification: m.ReadAmplification, Snapshots: m.Snapshots,
			CacheHits: uint64(m.CacheHits), CacheMisses: uint64(m.CacheMisses),
		},
		Memory: admin.StatusMemory{Setting: uint64(s.set.Memory), Caches: uint64(m.CacheBytes)},
	}
	st.Memory.Now, st.Memory.Peak = resident()
	disk, err := s.store.Disk()
	if err != nil {
		return st, err
	}
	minFree := uint64(s.set.MinFreeBytes)
	st.Disk = admin.StatusDisk{
		Index: m.DiskBytes, Mirrors: s.mirrors.bytes(ctx, filepath.Join(s.Dir(), "mirrors"), time.Now()),
		Free: disk.FreeBytes, Total: disk.TotalBytes, MinFree: minFree, Low: disk.FreeBytes < minFree,
	}
	if why := s.disk.stopped(); why != nil {
		st.Disk.Stopped = why.Error()
	}
	all, err := s.repositories.List(ctx)
	if err != nil {
		return st, err
	}
	st.Repositories = lags(all, time.Now(), s.repositories.pushes.seconds)
	st.Index.Aside, st.Index.Unreadable = damage(s.store.Health())
	st.Backup = lastBackup(s.Dir())
	sharing, _ := s.store.Node().Sharing()
	st.Cluster = s.node.Status(ctx, sharing)
	return st, nil
}

// damage reports the parts that are damaged and out of service.
func damage(h store.Health) (aside []admin.StatusAside, records []string) {
	for _, d := range h.Aside {
		aside = append(aside, admin.StatusAside{Shard: d.Shard, Since: d.Since, Reason: d.Reason})
	}
	return aside, h.Records
}

// lastBackup returns the record of the last backup in the data directory.
func lastBackup(dir string) (out admin.StatusBackup) {
	r, err := backup.LastRun(disk.OS(), dir)
	if err != nil {
		return admin.StatusBackup{Error: redact.Text(err.Error())}
	}
	if r.Last != nil {
		out.Last, out.Destination, out.Error = r.Last.Started, redact.URL(r.Last.Destination), redact.Text(r.Last.Error)
	}
	if r.LastGood != nil {
		out.LastGood = r.LastGood.Started
	}
	return out
}

// lags returns how long ago each source was looked at.
func lags(all []*store.Repository, now time.Time, pushSeconds func(id uint32) float64) admin.StatusRepositories {
	out := admin.StatusRepositories{Total: len(all), Lags: make([]admin.StatusLag, 0, len(all))}
	for _, r := range all {
		seen := r.Fetched()
		if seen.IsZero() {
			seen = r.Created
		}
		lag := admin.StatusLag{Name: r.Name, Indexed: r.Indexed(), Error: redact.About(r.LastError, r.Source), PushSeconds: pushSeconds(r.ID)}
		if !seen.IsZero() {
			lag.Seconds = max(now.Sub(seen).Seconds(), 0)
		}
		if lag.Indexed {
			out.Indexed++
		}
		if lag.Error != "" {
			out.Failing++
		}
		out.Lags = append(out.Lags, lag)
	}
	slices.SortFunc(out.Lags, func(a, b admin.StatusLag) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
	})
	out.OldestSeconds, out.P99Seconds, out.MedianSeconds = below(out.Lags, 100), below(out.Lags, 99), below(out.Lags, 50)
	return out
}

// below returns the least seconds that so many of 100 lags do not exceed, 0 of
// none. The longest is first.
func below(lags []admin.StatusLag, percent int) float64 {
	if len(lags) == 0 {
		return 0
	}
	return lags[len(lags)-max((len(lags)*percent+99)/100, 1)].Seconds
}

// mirrorsFor is how long the size of the mirrors is believed: to find it out
// takes a look at each of their files.
const mirrorsFor = 10 * time.Minute

// mirrorSize is the size of the mirrors when it was last looked at.
type mirrorSize struct {
	mu    sync.Mutex // guards all below; held while files are looked at
	at    time.Time
	total uint64
}

// bytes returns the size of all files below dir. Files that cannot be read
// count as empty: they come and go while git fetches.
func (m *mirrorSize) bytes(ctx context.Context, dir string, now time.Time) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && now.Sub(m.at) < mirrorsFor {
		return m.total
	}
	total := uint64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += uint64(info.Size())
		}
		return nil
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return m.total
	}
	m.at, m.total = now, total
	return total
}
