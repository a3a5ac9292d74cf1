package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/store"
)

// faulty is a file system whose n-th call fails, and those behind it too if the
// fault stays. Some calls are done in part first.
type faulty struct {
	vfs.FS
	mu    sync.Mutex
	calls int
	n     int // 0 is never
	stays bool
	cause error
	// hit is the call that failed.
	hit string
}

func (f *faulty) MaybeError(op errorfs.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.n == 0 || f.calls < f.n || f.calls > f.n && !f.stays || op.Kind == errorfs.OpFileClose {
		return nil
	}
	if f.hit == "" {
		f.hit = fmt.Sprintf("call %d, %v on %s, fails with %v", f.n, op.Kind, op.Path, f.cause)
	}
	return f.cause
}

func (*faulty) String() string { return "faulty" }

// heal ends the fault and tells what it was.
func (f *faulty) heal() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n = 0
	return f.hit
}

// Create and Open wrap files so that reads and writes are short, once.
func (f *faulty) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return &shortFile{file, f}, err
}

func (f *faulty) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, o...)
	return &shortFile{file, f}, err
}

// shortFile does half of what fails with errShort.
type shortFile struct {
	vfs.File
	fs *faulty
}

// errShort is made half of the work and, by who does that, no error.
var errShort = errors.New("short")

func (f *shortFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if errors.Is(err, errShort) {
		return f.File.Write(p[:len(p)/2])
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

// trial is what a store is put through, and what was acknowledged of it.
type trial struct {
	t     *testing.T
	s     *store.Store
	fault string
	// users and shards are those acknowledged.
	users, shards int
	docs          []store.Document
	texts         []string
}

// run goes on after errors, since a store has to.
func (x *trial) run() {
	for i := range 4 {
		x.user()
		x.shard()
		if i == 1 {
			x.big()
		}
	}
}

// user adds a record whose id is the number of those before.
func (x *trial) user() {
	c := x.s.BeginRecords()
	c.Put(store.RecordUser, []byte{byte(x.users)}, []byte("user"))
	if x.s.CommitRecords(&c) == nil {
		x.users++
	}
}

// big commits more than the engine keeps in memory, so that it writes tables
// in the background, in batches of all its kinds.
func (x *trial) big() {
	for i, size := range []int{1 << 20, 3 << 20, 1 << 20} {
		c := x.s.BeginRecords()
		c.Put(store.RecordJobResult, []byte{byte(i)}, make([]byte, size))
		_ = x.s.CommitRecords(&c) // whether it is there does not matter
	}
}

func (x *trial) shard() {
	w := x.s.NewShardWriter()
	defer w.Close()
	for i := range x.docs {
		if err := w.AddDocument(x.docs[i], []byte(x.texts[i]), true); err != nil {
			return
		}
	}
	h, err := w.Finish(context.Background())
	if err != nil {
		return
	}
	if x.s.Commit(store.Change{Add: []store.ShardHeader{h}}) == nil {
		x.shards++
	}
}

// acknowledged asks whether all is there that has to be, and that at most what
// an error was told of is there too.
func (x *trial) acknowledged(when string, lost int) {
	x.t.Helper()
	for i := range x.users {
		if _, err := x.s.Record(store.RecordUser, []byte{byte(i)}); err != nil {
			x.t.Errorf("%s: %s: user %d: %v", x.fault, when, i, err)
		}
	}
	sn := x.s.Snapshot()
	defer sn.Close()
	if got := len(sn.Shards()); got < x.shards || got > x.shards+lost {
		x.t.Errorf("%s: %s: %d shards, want %d and at most %d more", x.fault, when, got, x.shards, lost)
	}
	for _, v := range sn.Shards() {
		check(x.t, v, x.docs, x.texts)
	}
}

// causes are the errors that are injected.
var causes = []error{syscall.EIO, syscall.ENOSPC, errShort}

// TestFaults: whatever call of the file system is the first to fail, once or
// from then on, while a store is made, written, read and closed: the process
// goes on, what was acknowledged is there, and when the disk is well again the
// same store takes changes, and the next one has it all. TRAWL_FAULTS=all tries
// every call; less than that is a sample of so many.
func TestFaults(t *testing.T) {
	sample, _ := strconv.Atoi(os.Getenv("TRAWL_FAULTS"))
	if sample == 0 {
		sample = 40
	}
	docs, texts := documents(7, 3)
	calls := tryFault(t, docs, texts, &faulty{})
	seed := uint64(os.Getpid())
	rng := rand.New(rand.NewPCG(seed, 1))
	tried := 0
	for n := 1; n <= calls; n++ {
		for c, cause := range causes {
			for _, stays := range []bool{false, true} {
				if os.Getenv("TRAWL_FAULTS") != "all" && rng.IntN(calls*len(causes)*2) >= sample || stays && c == 2 {
					continue
				}
				tried++
				tryFault(t, docs, texts, &faulty{n: n, stays: stays, cause: cause})
			}
		}
	}
	t.Logf("seed %d: %d faults over %d calls of the file system", seed, tried, calls)
}

// tryFault returns how many calls there were.
func tryFault(t *testing.T, docs []store.Document, texts []string, f *faulty) int {
	t.Helper()
	f.FS = errorfs.Wrap(vfs.NewMem(), f)
	x := &trial{t: t, docs: docs, texts: texts, fault: fmt.Sprintf("call %d fails with %v, for good: %v", f.n, f.cause, f.stays)}
	within(t, x.fault, func() {
		var err error
		if x.s, err = store.Open("data", store.Options{FS: f, CacheBytes: 1 << 20}); err == nil {
			x.run()
			x.whileFaulty()
			fault := f.heal()
			if err := x.s.Mend(); err != nil {
				t.Errorf("%s: Mend: %v", fault, err)
			}
			x.acknowledged("mended", 4)
			x.goesOn()
			_ = x.s.Close()
		} else if f.n == 0 {
			t.Error(err)
		}
		x.fault += ", " + f.heal()
		if x.s, err = store.Open("data", store.Options{FS: f, CacheBytes: 1 << 20}); err != nil {
			t.Errorf("%s: Open afterwards: %v", x.fault, err)
			return
		}
		x.acknowledged("opened again", 4)
		x.goesOn()
		if err := x.s.Close(); err != nil {
			t.Errorf("%s: Close afterwards: %v", x.fault, err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return f.calls
}

// whileFaulty reads: what is read is right, or an error.
func (x *trial) whileFaulty() {
	sn := x.s.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		d, err := v.Documents()
		if err != nil {
			continue
		}
		text := v.Text()
		for i := range d.Len() {
			if got, err := text.Slice(d.TextStart[i], d.TextStart[i+1]); err == nil && string(got) != x.texts[i] {
				x.t.Errorf("%s: document %d is read wrong", x.fault, i)
			}
		}
		text.Close()
	}
}

// goesOn writes what has to succeed.
func (x *trial) goesOn() {
	users, shards := x.users, x.shards
	x.user()
	x.shard()
	if x.users != users+1 || x.shards != shards+1 {
		x.t.Errorf("%s: with a good disk, %d of 1 user and %d of 1 shard were taken", x.fault, x.users-users, x.shards-shards)
	}
}
