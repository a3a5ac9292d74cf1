package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/store/disk"
)

// errStopped is the error for a table that the engine makes after the stop.
var errStopped = errors.New("the engine writes no more")

// failStop is a fail-stop file system: the engine writes through it until the first
// error that the engine cannot handle, and nothing reaches the disk after that.
//
// When the engine cannot write its log or its manifest, it ends the process
// from the goroutine that met the error. So failStop hides such errors from it.
// The first one stops all writing: later writes are discarded and files that
// are removed stay. The disk is as a crash at that time would have left it, and
// can be opened again beside the engine, which goes on reading and can be
// closed in good order. A caller that writes checks err afterwards.
//
// Errors about tables are passed on, since the engine tries those again, and so
// are errors about files outside of dir, which belong to checkpoints. But commits
// wait for an engine that cannot empty its memory into a table once the memory is
// full, and so does closing. After mostFlushes tries failStop stops for that too,
// and keeps those tables in memory, so that nothing waits for ever.
type failStop struct {
	vfs.FS
	// dir is where the engine keeps its files.
	dir    string
	broken atomic.Pointer[error]
	// pause is how long the next failure over a table waits.
	pause atomic.Int64
	// longest is that of the longest pause.
	longest time.Duration
	// flushes counts the failures over tables that the engine empties its memory
	// into, until one is completed.
	flushes atomic.Int32
	// logs says that the engine has begun a log.
	logs atomic.Bool
	// elsewhere is the first failure to sync a directory of a checkpoint. The engine
	// panics over some of them, so the caller of the checkpoint looks here.
	elsewhere atomic.Pointer[error]
	// kept has the tables that the engine flushed after the stop: what it holds in
	// memory, once more.
	kept vfs.FS
}

func newFailStop(fs vfs.FS, dir string, longestPause time.Duration) *failStop {
	return &failStop{FS: fs, dir: dir, longest: longestPause, kept: vfs.NewMem()}
}

const (
	// flushCategory is what the engine says of tables that take what it has in
	// memory.
	flushCategory = "pebble-memtable-flush"
	// mostFlushes takes a second, by the pauses.
	mostFlushes = 10
)

// flushFailed counts a failure over such a table.
func (f *failStop) flushFailed(what, name string, err error) {
	if f.flushes.Add(1) >= mostFlushes {
		f.stop(fmt.Errorf("%s %s: %w", what, name, err))
	}
}

// keep makes a table in memory.
func (f *failStop) keep(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.kept.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	return f.kept.Create(name, c)
}

// err returns why writing has stopped, or nil.
func (f *failStop) err() error {
	if p := f.broken.Load(); p != nil {
		return *p
	}
	return nil
}

func (f *failStop) stopped() bool { return f.broken.Load() != nil }

// stop ends all writing; the first error is kept.
func (f *failStop) stop(err error) { f.broken.CompareAndSwap(nil, &err) }

// The pauses after failures over tables, which the engine would otherwise
// repeat without one. Each is twice as long as the one before, until a table is
// completed.
const (
	firstPause   = time.Millisecond
	longestPause = time.Second
)

// table passes on how an operation on a table went, late if it failed.
func (f *failStop) table(err error) error {
	if err == nil || IsNotExist(err) {
		return err
	}
	pause := max(f.pause.Load(), int64(firstPause))
	f.pause.Store(min(2*pause, int64(f.longest)))
	time.Sleep(time.Duration(pause))
	return err
}

// spares reports whether the engine can do without the file at path.
func (f *failStop) spares(path string) bool {
	return strings.HasSuffix(path, ".sst") || strings.HasSuffix(path, ".blob") || f.PathDir(path) != f.dir
}

// Create implements vfs.FS.
func (f *failStop) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if c == flushCategory {
		return f.makeFlush(name, c)
	}
	return f.make(name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// ReuseForWrite implements vfs.FS.
func (f *failStop) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.make(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenReadWrite implements vfs.FS.
func (f *failStop) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return f.make(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, o...) })
}

func (f *failStop) make(name string, open func() (vfs.File, error)) (vfs.File, error) {
	if strings.HasPrefix(f.PathBase(name), "marker.") {
		f.secure()
	}
	table := f.spares(name)
	if strings.HasSuffix(name, ".log") {
		f.logs.Store(true)
	}
	if f.stopped() {
		if table {
			return nil, f.table(errStopped)
		}
		return &failStopFile{File: nowhere{}, fs: f, name: name}, nil
	}
	file, err := open()
	switch {
	case err == nil:
		return &failStopFile{File: file, fs: f, name: name, table: table}, nil
	case table:
		return nil, f.table(err)
	}
	f.stop(fmt.Errorf("make %s: %w", name, err))
	return &failStopFile{File: nowhere{}, fs: f, name: name}, nil
}

// makeFlush makes a table that takes what the engine has in memory.
func (f *failStop) makeFlush(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.stopped() {
		return f.keep(name, c)
	}
	file, err := f.FS.Create(name, c)
	if err != nil {
		f.flushFailed("make", name, err)
		return nil, f.table(err)
	}
	return &failStopFile{File: file, fs: f, name: name, table: true, flush: true}, nil
}

// secure makes durable that the files made so far exist. A marker names a file,
// and the engine syncs the directory only when both are in it: without this, a
// crash could leave the marker and not the file.
func (f *failStop) secure() {
	if f.stopped() {
		return
	}
	if err := disk.SyncDir(f.FS, f.dir); err != nil {
		f.stop(fmt.Errorf("sync %s: %w", f.dir, err))
	}
}

// Open implements vfs.FS.
func (f *failStop) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if f.stopped() {
		if file, err := f.kept.Open(name, o...); err == nil {
			return file, nil
		}
	}
	file, err := f.FS.Open(name, o...)
	if err != nil {
		return nil, err
	}
	return &failStopFile{File: file, fs: f, name: name, table: true}, nil
}

// OpenDir implements vfs.FS.
func (f *failStop) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	if name == f.dir {
		return &failStopFile{File: dir, fs: f, name: name}, nil
	}
	return &failStopFile{File: dir, fs: f, name: name, table: true, elsewhere: &f.elsewhere}, nil
}

// takeElsewhere returns and clears the first error of a checkpoint directory that
// was hidden from the engine.
func (f *failStop) takeElsewhere() error {
	if err := f.elsewhere.Swap(nil); err != nil {
		return *err
	}
	return nil
}

// List implements vfs.FS. While the engine is opened, it lists its directory once
// more after it has begun its first log, to find files that may be removed. After
// an error it would give up while its background work goes on, which panics.
func (f *failStop) List(dir string) ([]string, error) {
	names, err := f.FS.List(dir)
	if err == nil || !f.logs.Load() {
		return names, err
	}
	f.stop(fmt.Errorf("list %s: %w", dir, err))
	return nil, nil
}

// Link implements vfs.FS.
func (f *failStop) Link(oldname, newname string) error {
	if f.stopped() {
		return errStopped
	}
	return f.FS.Link(oldname, newname)
}

// Rename implements vfs.FS.
func (f *failStop) Rename(oldname, newname string) error {
	spared := f.spares(newname)
	switch {
	case f.stopped() && spared:
		return errStopped
	case f.stopped():
		return nil
	}
	err := f.FS.Rename(oldname, newname)
	if err == nil || spared {
		return err
	}
	f.stop(fmt.Errorf("rename %s: %w", oldname, err))
	return nil
}

// Remove implements vfs.FS. A file that cannot be removed does no harm: the engine
// removes it when it is opened next.
func (f *failStop) Remove(name string) error {
	if f.stopped() {
		return nil
	}
	if err := f.FS.Remove(name); IsNotExist(err) {
		return err
	}
	return nil
}

// RemoveAll implements vfs.FS.
func (f *failStop) RemoveAll(name string) error {
	if f.stopped() {
		return nil
	}
	return f.FS.RemoveAll(name)
}

// Lock implements vfs.FS. The store holds the lock of the directory itself.
func (f *failStop) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap implements vfs.FS.
func (f *failStop) Unwrap() vfs.FS { return f.FS }

// failStopFile is a file or directory that the engine has open. One that it only
// reads, or that is elsewhere, counts as a table.
type failStopFile struct {
	vfs.File
	fs    *failStop
	name  string
	table bool
	// flush says that it takes what the engine has in memory.
	flush bool
	// elsewhere is where a failure of a directory that is a checkpoint's goes.
	elsewhere *atomic.Pointer[error]
	// failed says that it will not be completed.
	failed atomic.Bool
}

// done records the outcome of an operation, and returns it to the engine if it
// is one on a table.
func (f *failStopFile) done(what string, err error) error {
	if err == nil {
		return nil
	}
	f.failed.Store(true)
	if f.flush {
		f.fs.flushFailed(what, f.name, err)
	}
	if f.elsewhere != nil {
		err = fmt.Errorf("%s %s: %w", what, f.name, err)
		f.elsewhere.CompareAndSwap(nil, &err)
		return nil
	}
	if f.table {
		return f.fs.table(err)
	}
	f.fs.stop(fmt.Errorf("%s %s: %w", what, f.name, err))
	return nil
}

// held reports whether a change is kept from the disk, and the error that the
// engine gets then.
func (f *failStopFile) held() (bool, error) {
	if !f.fs.stopped() {
		return false, nil
	}
	if f.table && f.elsewhere == nil {
		return true, f.fs.table(errStopped)
	}
	return true, nil
}

// Write implements vfs.File.
func (f *failStopFile) Write(p []byte) (int, error) {
	return f.write(p, func() (int, error) { return f.File.Write(p) })
}

// WriteAt implements vfs.File.
func (f *failStopFile) WriteAt(p []byte, at int64) (int, error) {
	return f.write(p, func() (int, error) { return f.File.WriteAt(p, at) })
}

func (f *failStopFile) write(p []byte, write func() (int, error)) (int, error) {
	if held, err := f.held(); held {
		if err != nil {
			return 0, err
		}
		return len(p), nil
	}
	n, err := write()
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err := f.done("write", err); err != nil {
		return n, err
	}
	return len(p), nil
}

// ReadAt implements vfs.File.
func (f *failStopFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if err == nil && n < len(p) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Preallocate implements vfs.File. The write itself reports whether there is
// room.
func (f *failStopFile) Preallocate(at, bytes int64) error {
	if !f.fs.stopped() {
		_ = f.File.Preallocate(at, bytes)
	}
	return nil
}

// Sync implements vfs.File.
func (f *failStopFile) Sync() error {
	err := f.sync(f.File.Sync)
	if err == nil && f.table && !f.failed.Load() {
		f.completed()
	}
	return err
}

// completed says that tables can be written. A file is synced when it is closed,
// also one that could not be written to.
func (f *failStopFile) completed() {
	f.fs.pause.Store(0)
	if f.flush {
		f.fs.flushes.Store(0)
	}
}

// SyncData implements vfs.File.
func (f *failStopFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *failStopFile) SyncTo(bytes int64) (full bool, err error) {
	err = f.sync(func() error {
		full, err = f.File.SyncTo(bytes)
		return err
	})
	return full, err
}

func (f *failStopFile) sync(sync func() error) error {
	if held, err := f.held(); held {
		return err
	}
	return f.done("sync", sync())
}

// Stat implements vfs.File.
func (f *failStopFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err == nil || f.table {
		return info, err
	}
	return empty{}, f.done("look at", err)
}

// Close implements vfs.File. Writes that must be durable were synced before,
// and others are never read.
func (f *failStopFile) Close() error {
	if err := f.File.Close(); f.table {
		return err
	}
	return nil
}

// nowhere is a file that was not made.
type nowhere struct{ vfs.File }

// Close implements vfs.File.
func (nowhere) Close() error { return nil }

// Stat implements vfs.File.
func (nowhere) Stat() (vfs.FileInfo, error) { return empty{}, nil }

// Prefetch implements vfs.File.
func (nowhere) Prefetch(int64, int64) error { return nil }

// Fd implements vfs.File.
func (nowhere) Fd() uintptr { return vfs.InvalidFd }

// empty is the information about a file that was not made.
type empty struct{ vfs.FileInfo }

// Size implements vfs.FileInfo.
func (empty) Size() int64 { return 0 }
