package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trawlsearch/trawl/httpapi/admin"
)

// statusCollector makes metrics of what the status of the server says when it is
// asked.
type statusCollector struct{ status admin.StatusFunc }

// statusWithin bounds how long a page of metrics waits for the status.
const statusWithin = 5 * time.Second

// reading is a metric that is read off the status.
type reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*admin.Status) float64
}

func gaugeOf(name, help string, of func(*admin.Status) float64) reading {
	return reading{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, of}
}

func counterOf(name, help string, of func(*admin.Status) float64) reading {
	return reading{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, of}
}

type status = admin.Status

// readings are all of them.
func readings() []reading {
	return []reading{
		gaugeOf("trawl_ready", "1 when searches can run and find what they should, as /readyz has it.", func(s *status) float64 { return truth(s.Ready) }),
		gaugeOf("trawl_start_time_seconds", "When the server started, in seconds since 1970.", func(s *status) float64 { return unix(s.Started) }),

		gaugeOf("trawl_repositories", "Repositories that are known.", func(s *status) float64 { return float64(s.Repositories.Total) }),
		gaugeOf("trawl_repositories_indexed", "Repositories that can be searched.", func(s *status) float64 { return float64(s.Repositories.Indexed) }),
		gaugeOf("trawl_repositories_failing", "Repositories whose last sync failed.", func(s *status) float64 { return float64(s.Repositories.Failing) }),
		gaugeOf("trawl_sync_lag_seconds", "The longest time since the source of a repository was looked at with success.", func(s *status) float64 { return s.Repositories.OldestSeconds }),
		gaugeOf("trawl_sync_lag_median_seconds", "The time since its source was looked at with success that half of all repositories are below.", func(s *status) float64 { return s.Repositories.MedianSeconds }),
		gaugeOf("trawl_sync_lag_p99_seconds", "The same for 99 of 100 repositories.", func(s *status) float64 { return s.Repositories.P99Seconds }),
		gaugeOf("trawl_sync_running", "1 while a repository is synced.", func(s *status) float64 { return truth(s.Queue.Running != "") }),
		gaugeOf("trawl_sync_queue", "Repositories that wait to be synced.", func(s *status) float64 { return float64(s.Queue.Waiting) }),

		gaugeOf("trawl_searches_at_work", "Searches that run now.", func(s *status) float64 { return float64(s.Searches.AtWork) }),
		gaugeOf("trawl_searches_waiting", "Searches that wait for others to end.", func(s *status) float64 { return float64(s.Searches.Waiting) }),
		gaugeOf("trawl_searches_most", "Searches that may run at once.", func(s *status) float64 { return float64(s.Searches.Most) }),

		gaugeOf("trawl_index_shards", "Shards of the index.", func(s *status) float64 { return float64(s.Index.Shards) }),
		gaugeOf("trawl_index_documents", "Documents in shards, dead ones included.", func(s *status) float64 { return float64(s.Index.Documents) }),
		gaugeOf("trawl_index_dead_documents", "Documents in shards that belong to no generation any more.", func(s *status) float64 { return float64(s.Index.Dead) }),
		gaugeOf("trawl_index_text_bytes", "Text in shards.", func(s *status) float64 { return float64(s.Index.TextBytes) }),

		gaugeOf("trawl_index_shards_aside", "Shards that are damaged and wait to be made anew; answers say that they are incomplete.", func(s *status) float64 { return float64(len(s.Index.Aside)) }),

		gaugeOf("trawl_index_records_unreadable", "Small records that are damaged.", func(s *status) float64 { return float64(len(s.Index.Unreadable)) }),
		gaugeOf("trawl_index_shards_outdated", "Shards of an older index that wait to be rewritten; they are searched meanwhile.", func(s *status) float64 { return float64(s.Index.Outdated) }),

		gaugeOf("trawl_backup_last_timestamp_seconds", "When the last backup that succeeded was begun, in seconds since 1970; 0 is never.", func(s *status) float64 { return unix(s.Backup.LastGood) }),
		gaugeOf("trawl_backup_failing", "1 when the last attempt to make a backup failed.", func(s *status) float64 { return truth(s.Backup.Error != "") }),

		gaugeOf("trawl_disk_index_bytes", "Size of the index on disk.", func(s *status) float64 { return float64(s.Disk.Index) }),
		gaugeOf("trawl_disk_mirror_bytes", "Size of the mirrors on disk, up to ten minutes old.", func(s *status) float64 { return float64(s.Disk.Mirrors) }),
		gaugeOf("trawl_disk_free_bytes", "Free space where the data directory is.", func(s *status) float64 { return float64(s.Disk.Free) }),
		gaugeOf("trawl_disk_size_bytes", "Size of the file system where the data directory is.", func(s *status) float64 { return float64(s.Disk.Total) }),
		gaugeOf("trawl_disk_low", "1 while indexing has stopped because less than min-free-bytes is free.", func(s *status) float64 { return truth(s.Disk.Low) }),
		gaugeOf("trawl_indexing_stopped", "1 while nothing is indexed for want of room, or because the disk fails.", func(s *status) float64 { return truth(s.Disk.Stopped != "") }),

		gaugeOf("trawl_memory_setting_bytes", "What the process is to stay within.", func(s *status) float64 { return float64(s.Memory.Setting) }),
		gaugeOf("trawl_memory_peak_bytes", "The most memory that the process took.", func(s *status) float64 { return float64(s.Memory.Peak) }),
		gaugeOf("trawl_memory_cache_bytes", "What the caches hold.", func(s *status) float64 { return float64(s.Memory.Caches) }),

		gaugeOf("trawl_engine_compaction_debt_bytes", "What the engine should rewrite to be in order, an estimate.", func(s *status) float64 { return float64(s.Index.CompactionDebtBytes) }),
		counterOf("trawl_engine_compactions_total", "Compactions of the engine.", func(s *status) float64 { return float64(s.Index.Compactions) }),
		counterOf("trawl_engine_compactions_failed_total", "Compactions of the engine that failed.", func(s *status) float64 { return float64(s.Index.CompactionsFailed) }),
		gaugeOf("trawl_engine_wal_bytes", "Size of the engine's log files in use.", func(s *status) float64 { return float64(s.Index.WALBytes) }),
		gaugeOf("trawl_engine_memtable_bytes", "What the engine holds in memory before it is written to tables.", func(s *status) float64 { return float64(s.Index.MemTableBytes) }),
		gaugeOf("trawl_engine_read_amplification", "In how many places a look-up of the engine may have to look.", func(s *status) float64 { return float64(s.Index.ReadAmplification) }),
		gaugeOf("trawl_engine_snapshots", "Snapshots that are open.", func(s *status) float64 { return float64(s.Index.Snapshots) }),
		counterOf("trawl_engine_cache_hits_total", "Blocks that the engine's cache had.", func(s *status) float64 { return float64(s.Index.CacheHits) }),
		counterOf("trawl_engine_cache_misses_total", "Blocks that the engine's cache had not.", func(s *status) float64 { return float64(s.Index.CacheMisses) }),
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// Describe implements prometheus.Collector.
func (c *statusCollector) Describe(out chan<- *prometheus.Desc) {
	for _, r := range append(readings(), clusterReadings()...) {
		out <- r.desc
	}
}

// Collect implements prometheus.Collector.
func (c *statusCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statusWithin)
	defer cancel()
	s, err := c.status(ctx)
	all := readings()
	if s.Cluster != nil {
		all = append(all, clusterReadings()...)
	}
	for _, r := range all {
		if err != nil {
			out <- prometheus.NewInvalidMetric(r.desc, err)
			continue
		}
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(&s))
	}
}
