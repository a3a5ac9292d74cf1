package store_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// A cause is an error that calls fail with, and which calls can.
type cause struct {
	err error
	may func(errorfs.OpKind) bool
}

// causes are those that are injected.
var causes = []cause{
	{syscall.EIO, func(k errorfs.OpKind) bool { return k != errorfs.OpFileClose }},
	{syscall.ENOSPC, func(k errorfs.OpKind) bool {
		return k.ReadOrWrite() == errorfs.OpIsWrite && k != errorfs.OpFileClose && k != errorfs.OpLock
	}},
	{errShort, func(k errorfs.OpKind) bool {
		return k == errorfs.OpFileWrite || k == errorfs.OpFileWriteAt || k == errorfs.OpFileRead || k == errorfs.OpFileReadAt
	}},
}

// errShort is made half of the work and, by who does that, no error.
var errShort = errors.New("short")

// faulty is a file system whose n-th call of those that can fail with a cause
// does, and those behind it too if the fault stays.
type faulty struct {
	vfs.FS
	mu sync.Mutex
	// calls is how many can fail with each cause.
	calls [3]int
	// n is 0 if none fails.
	n     int
	stays bool
	cause int
	// hit is the call that failed, and kind what it was to do.
	hit, kind string
}

// newFaulty wraps fs.
func newFaulty(fs vfs.FS, n, cause int, stays bool) *faulty {
	f := &faulty{n: n, cause: cause, stays: stays}
	f.FS = errorfs.Wrap(fs, f)
	return f
}

func (f *faulty) MaybeError(op errorfs.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, c := range causes {
		if c.may(op.Kind) {
			f.calls[i]++
		}
	}
	calls, cause := f.calls[f.cause], causes[f.cause]
	if f.n == 0 || calls < f.n || calls > f.n && !f.stays || !cause.may(op.Kind) {
		return nil
	}
	if f.hit == "" {
		f.kind = callNames[op.Kind]
		f.hit = fmt.Sprintf("%s of %s fails with %v", f.kind, op.Path, cause.err)
	}
	return cause.err
}

// callNames are the calls of a file system, by kind.
var callNames = map[errorfs.OpKind]string{
	errorfs.OpCreate: "create", errorfs.OpLink: "link", errorfs.OpOpen: "open", errorfs.OpOpenDir: "open directory",
	errorfs.OpRemove: "remove", errorfs.OpRemoveAll: "remove all", errorfs.OpRename: "rename", errorfs.OpReuseForWrite: "reuse",
	errorfs.OpMkdirAll: "mkdir", errorfs.OpLock: "lock", errorfs.OpList: "list", errorfs.OpFilePreallocate: "preallocate",
	errorfs.OpStat: "stat", errorfs.OpGetDiskUsage: "disk usage", errorfs.OpFileRead: "read", errorfs.OpFileReadAt: "read at",
	errorfs.OpFileWrite: "write", errorfs.OpFileWriteAt: "write at", errorfs.OpFileStat: "stat of file", errorfs.OpFileSync: "sync",
	errorfs.OpFileSyncData: "sync data", errorfs.OpFileSyncTo: "sync range", errorfs.OpFileFlush: "flush",
}

func (*faulty) String() string { return "faulty" }

// heal ends the fault, and tells how many calls there were and what the one that
// failed was to do.
func (f *faulty) heal() (calls [3]int, kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n = 0
	return f.calls, f.kind
}

func (f *faulty) about() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("call %d, for good: %v: %s", f.n, f.stays, f.hit)
}

// short wraps files so that what fails with errShort is half done.
func (f *faulty) short(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &shortFile{file}, nil
}

func (f *faulty) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.short(f.FS.Create(name, c))
}

func (f *faulty) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	return f.short(f.FS.Open(name, o...))
}

func (f *faulty) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return f.short(f.FS.OpenReadWrite(name, c, o...))
}

func (f *faulty) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.short(f.FS.ReuseForWrite(oldname, newname, c))
}

// shortFile does half of what fails with errShort.
type shortFile struct{ vfs.File }

func (f *shortFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if errors.Is(err, errShort) {
		return f.File.Write(p[:len(p)/2])
	}
	return n, err
}

func (f *shortFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(p, at)
	if errors.Is(err, errShort) {
		return f.File.WriteAt(p[:len(p)/2], at)
	}
	return n, err
}

func (f *shortFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if errors.Is(err, errShort) {
		return f.File.Read(p[:(len(p)+1)/2])
	}
	return n, err
}

func (f *shortFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	if errors.Is(err, errShort) {
		n, err = f.File.ReadAt(p[:len(p)/2], at)
		if err == nil {
			err = io.ErrUnexpectedEOF // as io.ReaderAt asks
		}
	}
	return n, err
}
