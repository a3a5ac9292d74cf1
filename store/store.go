package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/cluster"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/engine"
	"github.com/trawlsearch/trawl/store/shard"
)

// Options say how a store is opened. The zero value has usable defaults.
type Options struct {
	// CacheBytes is the size of all caches, the engine's among them; 0 is 256 MiB.
	CacheBytes int64
	// ListBytes bounds the memory of the posting lists of a shard that is being
	// written: beyond it the shard counts as full; 0 is 256 MiB. During a write
	// the caches shrink by as much.
	ListBytes int64
	// LargeBytes is what readers together may have in hand of texts larger than
	// a megabyte that they want in one piece; 0 is 256 MiB.
	LargeBytes int64
	// ReadOnly opens an existing store that cannot be changed.
	ReadOnly bool
	// FS is the file system; nil is the operating system's.
	FS vfs.FS
	// Event, if set, hears in words what the engine does in the background
	// and what goes wrong there.
	Event func(message string, err error)

	// Log, if set, has the versions of the store, which follows it and shares it with
	// other nodes, and Runs, which is set then too, the runs of its shards. The
	// caller closes the log after the store.
	Log  cluster.Log
	Runs Runs

	// detaching opens the directory of a node without its log.
	detaching bool
	// exports is how many runs are exported at once, and importBytes how many bytes of
	// records an entry of an import has, 0 for the usual numbers.
	exports, importBytes int
	// authority makes the authority of a store.
	authority func(*committer) authority
	// longestPause and memoryBytes are those of engine.Options.
	longestPause time.Duration
	memoryBytes  uint64
}

func (o Options) withDefaults() Options {
	o.CacheBytes = cmp.Or(o.CacheBytes, 256<<20)
	o.ListBytes = cmp.Or(o.ListBytes, 256<<20)
	o.LargeBytes = cmp.Or(o.LargeBytes, 256<<20)
	o.FS = cmp.Or(o.FS, disk.OS())
	if o.authority == nil {
		o.authority = func(w *committer) authority { return w }
	}
	if o.Event == nil {
		o.Event = func(string, error) {}
	}
	return o
}

// pause is a pause of what goes on in the background, which tests shorten.
func (o Options) pause(d time.Duration) time.Duration {
	return min(d, cmp.Or(o.longestPause, d))
}

// Store is an open data directory. It is safe for concurrent use.
type Store struct {
	fs   vfs.FS
	dir  string
	lock *pebble.Lock
	// options are those it was opened with, destination where writers of shards put what
	// they write.
	options     Options
	destination shard.Destination
	budget      *shard.Budget
	// nextShard is a number that no shard ever had, in a store that follows no log.
	nextShard atomic.Uint32
	// checkpoint says that there is one.
	checkpoint atomic.Bool

	committer *committer
	// authority orders the changes: the committer or that of node.
	authority authority
	node      Node
	gitDirs   GitDirs
}

// Open opens the store in dir and creates it if there is none. It fails with
// ErrLocked when another process has it open, and with a *FormatError when a
// newer program wrote it or an older one, whose store package migrations brings
// up to date. Runs that a crash left without an owner are removed.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := openable(o.FS, dir); err != nil {
		return nil, err // and nothing is made in there
	}
	if !o.ReadOnly {
		if err := disk.MakeDir(o.FS, index(o.FS, dir)); err != nil {
			return nil, fmt.Errorf("open store %q: %w", dir, err)
		}
	}
	// The lock is taken before the format is judged for good, so that no other
	// process changes it meanwhile, and outlives the engine's own use of the
	// directory.
	lock, err := engine.Lock(o.FS, index(o.FS, dir))
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	s := &Store{fs: o.FS, dir: dir, lock: lock, options: o, gitDirs: GitDirs{data: dir}}
	if !o.ReadOnly {
		makePrivate(o.FS, dir, o.Event)
	}
	if err = s.open(); err == nil && o.Log != nil {
		err = join(s)
	}
	if err != nil {
		if s.committer != nil {
			_ = s.closeEngine(false) // what that has to say follows from err
		}
		_ = lock.Close()
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	return s, nil
}

func (s *Store) open() error {
	o := s.options
	if o.ReadOnly && o.Log != nil {
		return errors.New("a store that follows a log cannot be opened for reading alone")
	}
	if err := openable(o.FS, s.dir); err != nil {
		return err
	}
	v, err := knownFormat(o.FS, s.dir)
	if err != nil {
		return err
	}
	if err := s.openFiles(v); err != nil {
		return err
	}
	s.authority = o.authority(s.committer)
	_, e := s.committer.current()
	if at, _, err := appliedVersion(e.DB); err != nil || at > 0 && o.Log == nil && !o.ReadOnly && !o.detaching {
		return cmp.Or(err, fmt.Errorf("it is one of several that share version %d and those behind it, and changes with them alone: name their database and objects with the settings authority and objects", at))
	}
	if v == 0 && !o.ReadOnly {
		if err := writeFormat(o.FS, s.dir, FormatNewest); err != nil {
			return err
		}
	}
	if o.ReadOnly {
		return nil
	}
	next, err := s.committer.removeOrphans()
	s.nextShard.Store(next)
	// A crash beside a checkpoint leaves its directory.
	return errors.Join(err, removeUnfinished(s.fs, index(s.fs, s.dir)), s.fs.RemoveAll(s.fs.PathJoin(s.dir, checkpointDir)))
}

// openFiles opens the engine over the files of a store of format v, 0 for one
// that is made now, and reads the catalogue.
func (s *Store) openFiles(v FormatVersion) error {
	o := s.options
	s.budget = shard.NewBudget(o.CacheBytes, o.ListBytes, o.LargeBytes)
	e, err := engine.Open(index(o.FS, s.dir), engine.Options{
		FS: o.FS, Cache: s.budget.Blocks(), ReadOnly: o.ReadOnly, Exists: v != 0, Advice: whatToDo, Event: o.Event,
		MemoryBytes: o.memoryBytes, LongestPause: o.longestPause,
	})
	if err != nil {
		s.budget.Blocks().Unref()
		return err
	}
	c, err := load(e.DB)
	if err != nil {
		s.budget.Blocks().Unref()
		return errors.Join(err, e.DB.Close())
	}
	s.committer = newCommitter(o.FS, s.dir, o.Event, s.budget, newDatabase(e), c)
	s.destination = shard.Destination{
		FS: o.FS, Dir: index(o.FS, s.dir), Options: e.RunOptions(), Budget: s.budget, Ingest: s.committer.ingest, Update: s.committer.update,
		Number: func() (uint32, error) { return s.nextShard.Add(1) - 1, nil },
		Mark: func(id uint32, counts shard.SymbolCounts) error {
			return s.Commit(Change{Symbols: map[uint32]shard.SymbolCounts{id: counts}})
		},
	}
	return nil
}

// removeUnfinished deletes the files of shards whose writing was cut short.
func removeUnfinished(fs vfs.FS, index string) error {
	names, err := fs.List(index)
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasPrefix(n, shard.RunPrefix) {
			if err := fs.Remove(fs.PathJoin(index, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close releases everything. All snapshots must be closed before. All commits
// are in tables then, if those can be written: the engine detects a damaged
// table, but may take a damaged log for a shorter one.
func (s *Store) Close() error {
	if open := s.committer.versions.count(0); open > 0 {
		return fmt.Errorf("close store: %d snapshots are still open", open)
	}
	if s.node.Shares() {
		s.node.a.close()
	}
	flushed := !s.options.ReadOnly && s.committer.flushToTables()
	return errors.Join(s.closeEngine(flushed), s.lock.Close())
}

func (s *Store) closeEngine(flushed bool) error {
	defer s.budget.Blocks().Unref()
	return s.committer.close(flushed)
}

// index is where the engine keeps the files of a data directory.
func index(fs vfs.FS, dir string) string { return fs.PathJoin(dir, "index") }

// Budget returns the memory that shards take.
func (s *Store) Budget() *shard.Budget { return s.budget }

// Version returns the version that snapshots taken now have.
func (s *Store) Version() Version { return s.committer.at() }

// Dir returns the data directory.
func (s *Store) Dir() string { return s.dir }

// NewShardWriter returns a writer of shards without an open shard.
func (s *Store) NewShardWriter() *shard.Writer {
	return shard.NewWriter(s.destination, s.budget.NewBuilder())
}

// NewSymbolWriter returns a writer of symbols without an open run.
func (s *Store) NewSymbolWriter() *shard.SymbolWriter { return shard.NewSymbolWriter(s.destination) }
