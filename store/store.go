package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say how a store is opened. The zero value has usable defaults.
type Options struct {
	// CacheBytes is the size of all caches, the engine's among them; 0 is 256 MiB.
	CacheBytes int64
	// ListBytes is what the posting lists of a shard that is being written may
	// take in memory before it counts as full; 0 is 256 MiB. During a
	// write the caches shrink by as much.
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

	// longestPause bounds the pauses of failStop; 0 is a second.
	longestPause time.Duration
	// memoryBytes is how much the engine collects before it writes a table; 0 is
	// 4 MiB.
	memoryBytes uint64
}

func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = 256 << 20
	}
	if o.ListBytes == 0 {
		o.ListBytes = 256 << 20
	}
	if o.LargeBytes == 0 {
		o.LargeBytes = 256 << 20
	}
	if o.FS == nil {
		o.FS = OSFS()
	}
	if o.memoryBytes == 0 {
		o.memoryBytes = 4 << 20
	}
	if o.longestPause == 0 {
		o.longestPause = longestPause
	}
	if o.Event == nil {
		o.Event = func(string, error) {}
	}
	return o
}

// Store is an open data directory. It is safe for concurrent use.
type Store struct {
	fs   vfs.FS
	dir  string
	lock *pebble.Lock
	// options are those it was opened with, tables how shards are written.
	options Options
	tables  sstable.WriterOptions
	// cache holds text and tables of shards, blocks is the engine's; engineBytes
	// is the size of that.
	cache       *cache
	blocks      *pebble.Cache
	engineBytes int64
	// large bounds large texts, which are read in one piece.
	large     *largeTexts
	listBytes int64

	// mu guards engine, catalogue, nextShard, tried and the order of commits.
	// Only the engine is called while it is held.
	mu        sync.Mutex
	engine    *engine
	catalogue *catalogue
	nextShard uint32
	// stuck holds a token when the engine could not do what it does in the
	// background.
	stuck chan struct{}
	// tried is when the engine was last opened again.
	tried time.Time
	// checkpoint says that there is one, guarded by mu too.
	checkpoint bool
	// ingesting is held for reading while a run is taken in, without mu, and for
	// writing while files are linked for a checkpoint, before mu.
	ingesting sync.RWMutex

	// read guards last and what is counted in versions and engines. Nothing that
	// waits is called while it is held, mu may be.
	read sync.Mutex
	last *version
	// snapshots counts the open ones, for Close to check.
	snapshots int
}

// engineShare is how many eighths of the memory for caches are the engine's.
// It keeps posting lists, which take half as much as the text, and text that was
// read once.
const engineShare = 3

// EngineShare returns how much of Options.CacheBytes is the engine's.
func EngineShare(cacheBytes int64) int64 { return cacheBytes * engineShare / 8 }

// blockBytes is the engine's block size: one text chunk fills a block.
const blockBytes = 32 << 10

// flushDropped is how long after shards were dropped their files are let go.
const flushDropped = 10 * time.Second

// Open opens the store in dir and creates it if there is none. It fails with
// ErrLocked when another process has it open, and with a *FormatError when a
// newer program wrote it or an older one, whose store package migrations brings
// up to date. Runs that a crash left without an owner are removed.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	index := o.FS.PathJoin(dir, "index")
	if err := openable(o.FS, dir); err != nil {
		return nil, err // and nothing is made in there
	}
	if !o.ReadOnly {
		if err := makeDir(o.FS, index); err != nil {
			return nil, fmt.Errorf("open store %q: %w", dir, err)
		}
	}
	// The lock is taken before the format is judged for good, so that no other
	// process changes it meanwhile, and outlives the engine's own use of the
	// directory.
	lock, err := lockIndex(o.FS, index)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	s := &Store{fs: o.FS, dir: dir, lock: lock, options: o}
	if !o.ReadOnly {
		s.makePrivate()
	}
	if err := s.open(); err != nil {
		if s.last != nil {
			_ = s.closeEngine() // what that has to say follows from err
		}
		_ = lock.Close()
		return nil, fmt.Errorf("open store %q: %w", dir, err)
	}
	return s, nil
}

// lockIndex takes the lock of the engine's directory.
func lockIndex(fs vfs.FS, index string) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(index, fs)
	// Only what becomes of the file that is locked has a path.
	if err != nil && !errors.As(err, new(*os.PathError)) {
		err = ErrLocked
	}
	return lock, err
}

// makeDir makes dir and everything above it so that it survives a crash: an
// entry in a directory is durable only once that directory has been synced.
func makeDir(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	}
	parent := fs.PathDir(dir)
	if parent != dir {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, privateDir); err != nil {
		return err
	}
	return syncDir(fs, parent)
}

func (s *Store) open() error {
	o := s.options
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
	if v == 0 && !o.ReadOnly {
		if err := writeFormat(o.FS, s.dir, FormatNewest); err != nil {
			return err
		}
	}
	if o.ReadOnly {
		return nil
	}
	// A crash beside a checkpoint leaves its directory.
	return errors.Join(s.removeOrphans(), s.removeUnfinished(s.index()), s.fs.RemoveAll(s.fs.PathJoin(s.dir, checkpointDir)))
}

// openFiles opens the engine over the files of a store of format v, 0 for one
// that is made now, and reads the catalogue.
func (s *Store) openFiles(v FormatVersion) error {
	o := s.options
	if err := judgeManifest(o.FS, s.index(), v); err != nil && (v != 0 || IsDamage(err)) {
		return fmt.Errorf("%w: %s", err, whatToDo)
	}
	if !o.ReadOnly {
		if err := s.breakSeal(s.index()); err != nil {
			return err
		}
	}
	s.engineBytes = EngineShare(o.CacheBytes)
	s.cache = &cache{most: o.CacheBytes - s.engineBytes}
	s.large, s.listBytes = newLargeTexts(o.LargeBytes), o.ListBytes
	s.blocks = pebble.NewCache(s.engineBytes)
	s.stuck = make(chan struct{}, 1)
	e, err := s.openEngine(v)
	if lacksFile(err) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if IsDamage(err) {
		err = fmt.Errorf("%w: %s", err, whatToDo)
	}
	if err != nil {
		s.blocks.Unref()
		return err
	}
	s.tables = s.engineOptions(e.failStop).MakeWriterOptions(6, e.db.TableFormat())
	if s.catalogue, err = load(e.db); err != nil {
		s.blocks.Unref()
		return errors.Join(err, e.db.Close())
	}
	s.engine = e
	s.publish(e, s.catalogue)
	return nil
}

// removeUnfinished deletes the files of shards whose writing was cut short.
func (s *Store) removeUnfinished(index string) error {
	names, err := s.fs.List(index)
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasPrefix(n, runPrefix) {
			if err := s.fs.Remove(s.fs.PathJoin(index, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) engineOptions(f *failStop) *pebble.Options {
	o := s.options
	events := pebble.EventListener{
		BackgroundError: func(err error) {
			select {
			case s.stuck <- struct{}{}:
			default:
			}
			o.Event("background error", err)
		},
		DiskSlow: func(i pebble.DiskSlowInfo) { o.Event(i.String(), nil) },
		// Left to its default, the engine calls Fatalf over a damaged block; the
		// read that met it returns the error, and that is enough.
		DataCorruption: func(i pebble.DataCorruptionInfo) { o.Event("damaged data", i.Details) },
	}
	po := &pebble.Options{
		FS:                 f,
		Cache:              s.blocks,
		ReadOnly:           o.ReadOnly,
		FormatMajorVersion: engineFormat,
		MemTableSize:       o.memoryBytes,
		// A shard that was dropped takes space, and a file stays open, until its range
		// deletion has left the memory table, which on a server that changes little
		// is after months.
		FlushDelayDeleteRange: flushDropped,
		EventListener:         &events,
		Logger:                quiet{o.Event},
	}
	po.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		return pebble.UniformDBCompressionSettings(compression)
	})
	for i := range po.Levels {
		po.Levels[i].BlockSize = blockBytes
		po.Levels[i].IndexBlockSize = blockBytes
	}
	po.EnsureDefaults()
	return po
}

// quiet is the engine's logger: it passes on errors only.
type quiet struct{ event func(string, error) }

func (quiet) Infof(string, ...any) {}
func (q quiet) Errorf(format string, args ...any) {
	q.event("store", fmt.Errorf(format, args...))
}
func (q quiet) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	q.event("store cannot go on", err)
	panic(engineFailure{fmt.Errorf("the engine cannot go on: %w", err)})
}

// Close releases everything. All snapshots must be closed before. What was
// committed is in tables then, as far as they can be written: the engine tells a
// damaged table, but may take a damaged log for one that ended.
func (s *Store) Close() error {
	s.read.Lock()
	open := s.snapshots
	s.read.Unlock()
	if open > 0 {
		return fmt.Errorf("close store: %d snapshots are still open", open)
	}
	settled := s.settle()
	err := s.closeEngine()
	if settled && err == nil {
		err = s.seal()
	}
	return errors.Join(err, s.lock.Close())
}

// closeEngine releases the last version and waits for its readers.
func (s *Store) closeEngine() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := s.retire(s.engine)
	s.release(s.last)
	err := <-closed
	s.blocks.Unref()
	if broken := s.engine.failStop.err(); broken != nil {
		return fmt.Errorf("%w: %w", ErrBroken, broken)
	}
	return err
}

// event tells what happens in the background.
func (s *Store) event(message string, err error) { s.options.Event(message, err) }

// index is where the engine keeps its files.
func (s *Store) index() string { return s.fs.PathJoin(s.dir, "index") }

// Dir returns the data directory.
func (s *Store) Dir() string { return s.dir }

// GitDir returns where the git repository of r is: its source, or its mirror in
// the data directory. The mirror is named by ID, so that no name can lead out
// of it and one of a removed repository is never taken for that of a new one.
func (s *Store) GitDir(r *Repository) string {
	if !r.Mirror {
		return r.Source
	}
	return filepath.Join(s.dir, "mirrors", fmt.Sprintf("%d.git", r.ID))
}

// FreeBytes returns how much may still be written to the data directory's disk.
func (s *Store) FreeBytes() (uint64, error) {
	u, err := s.fs.GetDiskUsage(s.dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %q: %w", s.dir, err)
	}
	return u.AvailBytes, nil
}

func isNotExist(err error) bool { return errors.Is(err, os.ErrNotExist) }
