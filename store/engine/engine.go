package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say how a database is opened.
type Options struct {
	FS vfs.FS
	// Cache holds blocks of tables, those of engines that are opened again too.
	Cache *pebble.Cache
	// ReadOnly opens a database that cannot be changed.
	ReadOnly bool
	// Exists says that the database was opened once before, and so has a manifest.
	Exists bool
	// Advice ends the error over a damaged database: what an operator does about it.
	Advice string
	// Event hears in words what happens in the background and what goes wrong there.
	Event func(message string, err error)
	// MemoryBytes is how much is collected before a table is written; 0 is 4 MiB.
	MemoryBytes uint64
	// LongestPause bounds the pauses between attempts to write a table; 0 is a
	// second.
	LongestPause time.Duration
}

const (
	memoryBytes = 4 << 20
	// blockBytes is the size of a table's blocks: some four packed chunks of text, or
	// one that is not packed.
	blockBytes = 32 << 10
	// leastSaved is how many percent smaller a block must become to be stored
	// compressed. The text of shards is packed already and does not. The engine's way
	// of choosing between two algorithms tries random blocks: a run would have another
	// name each time that it is made of the same shard.
	leastSaved = 12
	// flushDropped is how long after shards were dropped their files are let go.
	flushDropped = 10 * time.Second
)

// engineFormat is the engine's own format in all formats so far. It stands here
// so that a newer version of the library does not raise it by itself, after
// which no older program could open the store.
const engineFormat = pebble.FormatValueSeparation

// Engine is the database, opened once. When it can write no more, Reopen returns
// another one to take its place.
type Engine struct {
	DB       *pebble.DB
	dir      string
	options  Options
	failStop *failStop
	// stuck holds a token when the database could not do what it does in the
	// background.
	stuck chan struct{}
}

// Do runs f, which writes, and reports whether that reached the disk.
func (e *Engine) Do(f func() error) error {
	err := survive(f)
	if broken := e.Err(); broken != nil {
		return broken
	}
	return err
}

// Err returns why nothing can be written any more, an ErrBroken, or nil.
func (e *Engine) Err() error {
	if broken := e.failStop.err(); broken != nil {
		return fmt.Errorf("%w: %w", ErrBroken, broken)
	}
	return nil
}

// Checkpoint links the files of the database into dir, which it makes. The
// database links tables first and then copies its log as long as it is by then.
// So nothing may be ingested or committed meanwhile: the log would name a run
// whose table is not there.
func (e *Engine) Checkpoint(dir string) error {
	_ = e.failStop.takeElsewhere() // of an earlier one
	return e.Do(func() error { return errors.Join(e.DB.Checkpoint(dir), e.failStop.takeElsewhere()) })
}

// RunOptions are those of runs that are ingested.
func (e *Engine) RunOptions() sstable.WriterOptions {
	return e.pebbleOptions().MakeWriterOptions(6, e.DB.TableFormat())
}

// pebbleOptions are those of the library.
func (e *Engine) pebbleOptions() *pebble.Options {
	o := e.options
	events := pebble.EventListener{
		BackgroundError: func(err error) {
			select {
			case e.stuck <- struct{}{}:
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
		FS:                 e.failStop,
		Cache:              o.Cache,
		ReadOnly:           o.ReadOnly,
		FormatMajorVersion: engineFormat,
		MemTableSize:       cmp.Or(o.MemoryBytes, memoryBytes),
		// A shard that was dropped takes space, and a file stays open, until its range
		// deletion has left the memory table, which on a server that changes little
		// is after months.
		FlushDelayDeleteRange: flushDropped,
		EventListener:         &events,
		Logger:                quiet{o.Event},
	}
	po.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		return pebble.UniformDBCompressionSettings(&block.CompressionProfile{
			Name:                "trawl",
			DataBlocks:          block.BalancedCompression.DataBlocks, // zstd level 1
			ValueBlocks:         block.BalancedCompression.ValueBlocks,
			OtherBlocks:         block.BalancedCompression.OtherBlocks, // MinLZ
			MinReductionPercent: leastSaved,
		})
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

// engineFailure is the value that the engine's logger panics with.
type engineFailure struct{ error }

// survive makes an error of the engine's giving up in f.
func survive(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case engineFailure:
			err = fmt.Errorf("%w: %w", ErrBroken, p.error)
		default:
			panic(p)
		}
	}()
	return f()
}

// Open opens the database in dir, unless it is damaged. A crash while the database
// is first created can leave the name of its newest manifest without the manifest.
// A directory whose database is not known to exist, and which has no table, holds
// no acknowledged change, so its files are removed and created again.
func Open(dir string, o Options) (*Engine, error) {
	if err := judgeManifest(o.FS, dir, o.Exists); err != nil && (o.Exists || IsDamage(err)) {
		return nil, fmt.Errorf("%w: %s", err, o.Advice)
	}
	if !o.ReadOnly {
		if err := breakSeal(o.FS, dir); err != nil {
			return nil, err
		}
	}
	e, err := open(dir, o)
	if err != nil && !o.Exists && !o.ReadOnly && removeAll(o.FS, dir) {
		e, err = open(dir, o)
	}
	// A table is missing, or the file with the format.
	if IsNotExist(err) || errors.Is(err, pebble.ErrDBNotPristine) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if IsDamage(err) {
		err = fmt.Errorf("%w: %s", err, o.Advice)
	}
	return e, err
}

// Reopen opens the database again, beside an engine that writes no more: what was
// committed is in the new one; what the last commit, which failed, was about may be.
func (e *Engine) Reopen() (*Engine, error) { return open(e.dir, e.options) }

// Lock takes the lock of the engine's directory, or returns ErrLocked.
func Lock(fs vfs.FS, index string) (*pebble.Lock, error) {
	lock, err := pebble.LockDirectory(index, fs)
	// Only what becomes of the file that is locked has a path.
	if err != nil && !errors.As(err, new(*os.PathError)) {
		err = ErrLocked
	}
	return lock, err
}

// removeAll removes the files of a database without tables. It reports false if there
// are tables, or a file stays.
func removeAll(fs vfs.FS, dir string) bool {
	names, err := fs.List(dir)
	if err != nil || slices.ContainsFunc(names, isTable) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return name != "LOCK" && fs.Remove(fs.PathJoin(dir, name)) != nil // the lock is the caller's
	})
}

// open opens the database. A write that failed meanwhile is an error.
func open(dir string, o Options) (*Engine, error) {
	e := &Engine{dir: dir, options: o, failStop: newFailStop(o.FS, dir, cmp.Or(o.LongestPause, longestPause)), stuck: make(chan struct{}, 1)}
	err := e.Do(func() (err error) {
		e.DB, err = pebble.Open(dir, e.pebbleOptions())
		return err
	})
	if err != nil && e.DB != nil {
		_ = e.DB.Close() // it wrote nothing
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// isTable reports whether a file of the engine is a table.
func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }
