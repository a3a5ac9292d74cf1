package store

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// errFenced is what making a table gets behind a raised fence.
var errFenced = errors.New("the engine writes no more")

// fence stands between the engine and the file system. The engine knows no way
// on when its log or its manifest cannot be written: it ends the process, from
// whatever goroutine met the error. So it is never told. The first such error
// raises the fence, and from then on nothing that the engine does reaches the
// disk: what it writes is swallowed, what it removes stays. The disk is as a
// crash at that moment would have left it, and can be opened again beside the
// engine, which goes on reading and can be closed in good order. Whoever asked
// for a write looks at the fence behind it.
//
// Errors about tables are passed on, since the engine tries those again, and so
// are those about files elsewhere, which are checkpoints. Yet while the engine
// cannot empty its memory into a table, whoever commits waits for it once that
// is full, and so does closing. After mostFlushes tries the fence is raised for
// that too, and those tables are kept in memory from then on, for nobody to
// wait for what will not be.
type fence struct {
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
	// panics over some of them, and whoever asked for the checkpoint looks here.
	elsewhere atomic.Pointer[error]
	// kept has those tables of when the fence was raised: what the engine held in
	// memory, once more.
	kept vfs.FS
}

func newFence(fs vfs.FS, dir string, longestPause time.Duration) *fence {
	return &fence{FS: fs, dir: dir, longest: longestPause, kept: vfs.NewMem()}
}

const (
	// flushCategory is what the engine says of tables that take what it has in
	// memory.
	flushCategory = "pebble-memtable-flush"
	// mostFlushes takes a second, by the pauses.
	mostFlushes = 10
)

// flushFailed counts a failure over such a table.
func (f *fence) flushFailed(what, name string, err error) {
	if f.flushes.Add(1) >= mostFlushes {
		f.raise(fmt.Errorf("%s %s: %w", what, name, err))
	}
}

// keep makes a table in memory.
func (f *fence) keep(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.kept.MkdirAll(f.dir, privateDir); err != nil {
		return nil, err
	}
	return f.kept.Create(name, c)
}

// err returns why the fence is raised, or nil.
func (f *fence) err() error {
	if p := f.broken.Load(); p != nil {
		return *p
	}
	return nil
}

func (f *fence) raised() bool { return f.broken.Load() != nil }

// raise keeps everything from the disk from now on.
func (f *fence) raise(err error) { f.broken.CompareAndSwap(nil, &err) }

// The pauses after failures over tables, which the engine would otherwise
// repeat without one. Each is twice as long as the one before, until a table is
// completed.
const (
	firstPause   = time.Millisecond
	longestPause = time.Second
)

// table passes on how an operation on a table went, late if it failed.
func (f *fence) table(err error) error {
	if err == nil || isNotExist(err) {
		return err
	}
	pause := max(f.pause.Load(), int64(firstPause))
	f.pause.Store(min(2*pause, int64(f.longest)))
	time.Sleep(time.Duration(pause))
	return err
}

// spares reports whether the engine can do without the file at path.
func (f *fence) spares(path string) bool {
	return strings.HasSuffix(path, ".sst") || strings.HasSuffix(path, ".blob") || f.PathDir(path) != f.dir
}

// Create implements vfs.FS.
func (f *fence) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if c == flushCategory {
		return f.makeFlush(name, c)
	}
	return f.make(name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// ReuseForWrite implements vfs.FS.
func (f *fence) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.make(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenReadWrite implements vfs.FS.
func (f *fence) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return f.make(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, o...) })
}

func (f *fence) make(name string, open func() (vfs.File, error)) (vfs.File, error) {
	if strings.HasPrefix(f.PathBase(name), "marker.") {
		f.secure()
	}
	table := f.spares(name)
	if strings.HasSuffix(name, ".log") {
		f.logs.Store(true)
	}
	if f.raised() {
		if table {
			return nil, f.table(errFenced)
		}
		return &fencedFile{File: nowhere{}, fence: f, name: name}, nil
	}
	file, err := open()
	switch {
	case err == nil:
		return &fencedFile{File: file, fence: f, name: name, table: table}, nil
	case table:
		return nil, f.table(err)
	}
	f.raise(fmt.Errorf("make %s: %w", name, err))
	return &fencedFile{File: nowhere{}, fence: f, name: name}, nil
}

// makeFlush makes a table that takes what the engine has in memory.
func (f *fence) makeFlush(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.raised() {
		return f.keep(name, c)
	}
	file, err := f.FS.Create(name, c)
	if err != nil {
		f.flushFailed("make", name, err)
		return nil, f.table(err)
	}
	return &fencedFile{File: file, fence: f, name: name, table: true, flush: true}, nil
}

// secure makes durable that the files made so far exist. A marker names a file,
// and the engine syncs the directory only when both are in it: without this, a
// crash could leave the marker and not the file.
func (f *fence) secure() {
	if f.raised() {
		return
	}
	if err := syncDir(f.FS, f.dir); err != nil {
		f.raise(fmt.Errorf("sync %s: %w", f.dir, err))
	}
}

// Open implements vfs.FS.
func (f *fence) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if f.raised() {
		if file, err := f.kept.Open(name, o...); err == nil {
			return file, nil
		}
	}
	file, err := f.FS.Open(name, o...)
	if err != nil {
		return nil, err
	}
	return &fencedFile{File: file, fence: f, name: name, table: true}, nil
}

// OpenDir implements vfs.FS.
func (f *fence) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	if name == f.dir {
		return &fencedFile{File: dir, fence: f, name: name}, nil
	}
	return &fencedFile{File: dir, fence: f, name: name, table: true, elsewhere: &f.elsewhere}, nil
}

// takeElsewhere returns what has failed since the last time that the engine was
// not told of.
func (f *fence) takeElsewhere() error {
	if err := f.elsewhere.Swap(nil); err != nil {
		return *err
	}
	return nil
}

// List implements vfs.FS. When the engine is opened it lists its directory once
// more behind its first log, to find what may be removed. An error would have it
// give up with work in the background going on, which panics.
func (f *fence) List(dir string) ([]string, error) {
	names, err := f.FS.List(dir)
	if err == nil || !f.logs.Load() {
		return names, err
	}
	f.raise(fmt.Errorf("list %s: %w", dir, err))
	return nil, nil
}

// Link implements vfs.FS.
func (f *fence) Link(oldname, newname string) error {
	if f.raised() {
		return errFenced
	}
	return f.FS.Link(oldname, newname)
}

// Rename implements vfs.FS.
func (f *fence) Rename(oldname, newname string) error {
	spared := f.spares(newname)
	switch {
	case f.raised() && spared:
		return errFenced
	case f.raised():
		return nil
	}
	err := f.FS.Rename(oldname, newname)
	if err == nil || spared {
		return err
	}
	f.raise(fmt.Errorf("rename %s: %w", oldname, err))
	return nil
}

// Remove implements vfs.FS. A file that cannot be removed is in nobody's way:
// the engine removes it when it is opened next.
func (f *fence) Remove(name string) error {
	if f.raised() {
		return nil
	}
	if err := f.FS.Remove(name); isNotExist(err) {
		return err
	}
	return nil
}

// RemoveAll implements vfs.FS.
func (f *fence) RemoveAll(name string) error {
	if f.raised() {
		return nil
	}
	return f.FS.RemoveAll(name)
}

// Lock implements vfs.FS. The store holds the lock of the directory itself.
func (f *fence) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Unwrap implements vfs.FS.
func (f *fence) Unwrap() vfs.FS { return f.FS }

// fencedFile is a file or directory that the engine has open. One that it only
// reads, or that is elsewhere, counts as a table.
type fencedFile struct {
	vfs.File
	fence *fence
	name  string
	table bool
	// flush says that it takes what the engine has in memory.
	flush bool
	// elsewhere is where a failure of a directory that is a checkpoint's goes.
	elsewhere *atomic.Pointer[error]
	// failed says that it will not be completed.
	failed atomic.Bool
}

// done tells how an operation went, to the engine if it is one on a table.
func (f *fencedFile) done(what string, err error) error {
	if err == nil {
		return nil
	}
	f.failed.Store(true)
	if f.flush {
		f.fence.flushFailed(what, f.name, err)
	}
	if f.elsewhere != nil {
		err = fmt.Errorf("%s %s: %w", what, f.name, err)
		f.elsewhere.CompareAndSwap(nil, &err)
		return nil
	}
	if f.table {
		return f.fence.table(err)
	}
	f.fence.raise(fmt.Errorf("%s %s: %w", what, f.name, err))
	return nil
}

// held reports whether the fence keeps a change from the disk, and what the
// engine is told then.
func (f *fencedFile) held() (bool, error) {
	if !f.fence.raised() {
		return false, nil
	}
	if f.table && f.elsewhere == nil {
		return true, f.fence.table(errFenced)
	}
	return true, nil
}

// Write implements vfs.File.
func (f *fencedFile) Write(p []byte) (int, error) {
	return f.write(p, func() (int, error) { return f.File.Write(p) })
}

// WriteAt implements vfs.File.
func (f *fencedFile) WriteAt(p []byte, at int64) (int, error) {
	return f.write(p, func() (int, error) { return f.File.WriteAt(p, at) })
}

func (f *fencedFile) write(p []byte, write func() (int, error)) (int, error) {
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
func (f *fencedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if err == nil && n < len(p) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Preallocate implements vfs.File. Writing tells whether there is room.
func (f *fencedFile) Preallocate(at, bytes int64) error {
	if !f.fence.raised() {
		_ = f.File.Preallocate(at, bytes)
	}
	return nil
}

// Sync implements vfs.File.
func (f *fencedFile) Sync() error {
	err := f.sync(f.File.Sync)
	if err == nil && f.table && !f.failed.Load() {
		f.completed()
	}
	return err
}

// completed says that tables can be written. A file is synced when it is closed,
// also one that could not be written to.
func (f *fencedFile) completed() {
	f.fence.pause.Store(0)
	if f.flush {
		f.fence.flushes.Store(0)
	}
}

// SyncData implements vfs.File.
func (f *fencedFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *fencedFile) SyncTo(bytes int64) (full bool, err error) {
	err = f.sync(func() error {
		full, err = f.File.SyncTo(bytes)
		return err
	})
	return full, err
}

func (f *fencedFile) sync(sync func() error) error {
	if held, err := f.held(); held {
		return err
	}
	return f.done("sync", sync())
}

// Stat implements vfs.File.
func (f *fencedFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err == nil || f.table {
		return info, err
	}
	return empty{}, f.done("look at", err)
}

// Close implements vfs.File. What was written is on disk already if it had to
// be, and is not read if it was not.
func (f *fencedFile) Close() error {
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

// empty is what is told of a file that was not made.
type empty struct{ vfs.FileInfo }

// Size implements vfs.FileInfo.
func (empty) Size() int64 { return 0 }
