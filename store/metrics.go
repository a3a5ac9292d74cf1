package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store/shard"
)

// Metrics are the numbers of a store for its operator.
type Metrics struct {
	// DiskBytes is the size of all files of the engine.
	DiskBytes uint64
	// CacheBytes is the present size of the caches, LargeBytes that of the
	// large texts that readers hold.
	CacheBytes, LargeBytes int64
	// CacheHits and CacheMisses count blocks that the engine's cache had and had
	// not, since the store was opened.
	CacheHits, CacheMisses int64
	// CompactionDebtBytes is what the engine should rewrite to be in order, an
	// estimate; Compactions counts what it has rewritten since it was opened,
	// and CompactionsFailed what it could not.
	CompactionDebtBytes            uint64
	Compactions, CompactionsFailed int64
	// WALBytes is the size of the log files in use, MemTableBytes what of them
	// is in memory only.
	WALBytes, MemTableBytes uint64
	// ReadAmplification is in how many places a look-up may have to look.
	ReadAmplification int
	// Snapshots counts the open ones.
	Snapshots int

	// Shards counts the shards of files and of commits; Documents and Dead
	// count what is in them, TextBytes is its text.
	Shards, Documents, Dead int
	TextBytes               int64
}

// Metrics reads the engine's counters and the catalogue's.
func (s *Store) Metrics() Metrics {
	v := s.committer.versions.hold()
	defer s.committer.versions.release(v)
	e, c := v.engine.DB.Metrics(), v.catalogue
	cache, texts := s.budget.Used()
	m := Metrics{
		DiskBytes:  e.DiskSpaceUsage(),
		CacheBytes: e.BlockCache.Size + cache, LargeBytes: texts,
		CacheHits: e.BlockCache.Hits, CacheMisses: e.BlockCache.Misses,
		CompactionDebtBytes: e.Compact.EstimatedDebt, Compactions: e.Compact.Count, CompactionsFailed: e.Compact.FailedCount,
		WALBytes: e.WAL.PhysicalSize, MemTableBytes: e.MemTable.Size,
		ReadAmplification: e.ReadAmp(), Snapshots: s.committer.versions.count(0),
	}
	m.Shards = c.byNumber.Len()
	c.byNumber.Scan(func(_ uint32, sh *shard.Shard) bool {
		m.Documents += sh.Header.Documents
		m.TextBytes += sh.Header.TextBytes
		return true
	})
	c.dead.Scan(func(_ uint32, dead *postings.Set) bool {
		m.Dead += dead.Len()
		return true
	})
	return m
}

// Disk is the file system that a data directory is on.
type Disk struct{ FreeBytes, TotalBytes uint64 }

// Disk asks the file system.
func (s *Store) Disk() (Disk, error) { return diskUsage(s.fs, s.dir) }

func diskUsage(fs vfs.FS, dir string) (Disk, error) {
	u, err := fs.GetDiskUsage(dir)
	if err != nil {
		return Disk{}, fmt.Errorf("space of %q: %w", dir, err)
	}
	return Disk{FreeBytes: u.AvailBytes, TotalBytes: u.TotalBytes}, nil
}
