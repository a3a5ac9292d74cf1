package backup_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/object"
)

// crasher takes a copy of a file system, as a power failure would leave it,
// before each of its operations.
type crasher struct {
	mem *vfs.MemFS

	mu      sync.Mutex // guards the rest
	rng     *rand.Rand
	on      bool
	crashes []*vfs.MemFS
}

func (c *crasher) MaybeError(errorfs.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on {
		lost := []int{0, 50, 100}[len(c.crashes)%3]
		c.crashes = append(c.crashes, c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: lost, RNG: c.rng}))
	}
	return nil
}

func (*crasher) String() string { return "crasher" }

// usualCrashes is how many crashes of one operation are looked at.
const usualCrashes = 8

// during runs f and returns what crashes in the middle would have left: some of
// them, or all:
//
//	TRAWL_CRASHES=all go test ./store/backup -run 'Crash|Faults' -v
func (c *crasher) during(f func()) []*vfs.MemFS {
	c.set(true)
	f()
	c.set(false)
	all := c.crashes
	c.crashes = nil
	if os.Getenv("TRAWL_CRASHES") == "all" {
		return all
	}
	var some []*vfs.MemFS
	for i := range usualCrashes {
		if at := i * len(all) / usualCrashes; at < len(all) {
			some = append(some, all[at])
		}
	}
	return some
}

func (c *crasher) set(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = on
}

func newCrasher(mem *vfs.MemFS) *crasher {
	return &crasher{mem: mem, rng: rand.New(rand.NewPCG(1, 2))}
}

// The power fails at the destination anywhere in a backup: earlier backups are
// whole, the new one is whole or not there, and the next run works.
func TestCrashOfTheDestination(t *testing.T) {
	recipient, private := identity(t)
	for _, keys := range []backup.Keys{{}, {Recipients: recipient, Identities: private}} {
		w := newWorld(t)
		mem := vfs.NewCrashableMem()
		c := newCrasher(mem)
		w.dest = object.NewFolder(errorfs.Wrap(mem, c), "deep/backups")
		o := backup.Options{Keys: keys, Mirrors: true}
		var first backup.Result
		var records, packs map[string]string
		for i, crashes := range [][]*vfs.MemFS{
			c.during(func() {
				w.put("a", "1")
				w.pack("pack-1.pack", 100<<10)
				first = w.create(o)
				records, packs = maps.Clone(w.records), maps.Clone(w.packs)
			}),
			c.during(func() {
				w.put("a", "2")
				w.pack("pack-2.pack", 50<<10)
				w.create(o)
			}),
		} {
			live := w.dest
			for _, fs := range crashes {
				w.dest = object.NewFolder(fs, "deep/backups")
				if i > 0 {
					w.sound(keys)
					w.restore(keys, first.Backup, records, packs)
				}
				w.create(o)
				w.sound(keys)
				w.restore(keys, "", w.records, w.packs)
			}
			w.dest = live
			t.Logf("%d crashes", len(crashes))
		}
	}
}

// The power fails where the data directory is: it opens, nothing is left of the
// checkpoint, and the next backup is whole.
func TestCrashOfTheDataDirectory(t *testing.T) {
	w := newWorld(t)
	mem := vfs.NewCrashableMem()
	c := newCrasher(mem)
	w.close()
	w.fs = errorfs.Wrap(mem, c)
	w.open()
	w.put("a", "1")
	w.shard("kiln", 8<<10)
	w.create(backup.Options{})
	w.put("a", "2")
	crashes := c.during(func() { w.create(backup.Options{}) })
	for n, fs := range crashes {
		st, err := store.Open("data", store.Options{FS: fs, CacheBytes: 1 << 20})
		if err != nil {
			t.Fatalf("crash %d: %v", n, err)
		}
		if exists(fs, "data/checkpoint") {
			t.Errorf("crash %d left the checkpoint", n)
		}
		if _, err := backup.LastRun(fs, "data"); err != nil {
			t.Errorf("crash %d: record: %v", n, err)
		}
		dest := object.NewFolder(vfs.NewMem(), "backups")
		if _, err := backup.Create(context.Background(), st, dest, backup.Options{}.Quick(nil)); err != nil {
			t.Errorf("crash %d: the next backup: %v", n, err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		other := vfs.NewMem()
		if _, err := backup.Restore(context.Background(), dest, other, "new", backup.RestoreOptions{}); err != nil {
			t.Fatalf("crash %d: %v", n, err)
		}
		same(t, other, "new", w.records)
	}
	t.Logf("%d crashes", len(crashes))
}

// The power fails in a restore: the directory is there wholly or not at all, and
// in the second case the next restore works.
func TestCrashOfARestore(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.shard("kiln", 8<<10)
	w.pack("pack-1.pack", 100<<10)
	w.create(backup.Options{Mirrors: true})
	// into a directory that is not there, and into one that is
	for _, there := range []bool{false, true} {
		mem := vfs.NewCrashableMem()
		if there {
			mkdirDurably(t, mem, "deep")
			mkdirDurably(t, mem, "deep/new")
		}
		c := newCrasher(mem)
		fs := errorfs.Wrap(mem, c)
		crashes := c.during(func() {
			if _, err := backup.Restore(context.Background(), w.dest, fs, "deep/new", backup.RestoreOptions{}); err != nil {
				t.Fatal(err)
			}
		})
		whole := 0
		for n, fs := range append(crashes, mem.CrashClone(vfs.CrashCloneCfg{})) {
			if !exists(fs, "deep/new/index") {
				if _, err := backup.Restore(context.Background(), w.dest, fs, "deep/new", backup.RestoreOptions{}); err != nil {
					t.Fatalf("crash %d: %v", n, err)
				}
			} else {
				whole++
			}
			same(t, fs, "deep/new", w.records)
			left, err := fs.List("deep/new/mirrors/7.git/objects/pack")
			if err != nil || len(left) != 1 {
				t.Errorf("crash %d: packs are %q, %v", n, left, err)
			}
		}
		if whole == 0 {
			t.Error("what Restore acknowledged was lost")
		}
		t.Logf("%d crashes, %d when it was whole", len(crashes), whole)
	}
}

func mkdirDurably(t *testing.T, fs vfs.FS, dir string) {
	t.Helper()
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{fs.PathDir(dir), dir} {
		d, err := fs.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// injector fails one operation.
type injector struct {
	mu      sync.Mutex // guards the rest
	on      bool
	n, at   int
	reached bool
}

var errInjected = errors.New("injected")

func (i *injector) next() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.on {
		return nil
	}
	i.n++
	if i.n != i.at {
		return nil
	}
	i.reached = true
	return errInjected
}

func (i *injector) MaybeError(errorfs.Op) error { return i.next() }
func (*injector) String() string                { return "injector" }

// from starts counting to a failure.
func (i *injector) from(at int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.on, i.n, i.at, i.reached = at > 0, 0, at, false
}

func (i *injector) stop() (reached bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.on = false
	return i.reached
}

// faulty is a destination with calls that fail.
type faulty struct {
	object.Store
	*injector
}

func (f faulty) String() string { return "faulty" }
func (f faulty) Put(ctx context.Context, name string, data []byte) error {
	return errors.Join(f.next(), f.Store.Put(ctx, name, data))
}
func (f faulty) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, name, limit)
}
func (f faulty) List(ctx context.Context, folder string, each func(object.Info) error) error {
	return errors.Join(f.Store.List(ctx, folder, each), f.next())
}
func (f faulty) Delete(ctx context.Context, name string) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Store.Delete(ctx, name)
}
func (f faulty) Sync(ctx context.Context) error {
	return errors.Join(f.next(), f.Store.Sync(ctx))
}

// faults are the steps between operations that fail: all of them with
// TRAWL_CRASHES=all.
func faults() int {
	if os.Getenv("TRAWL_CRASHES") == "all" {
		return 1
	}
	return 3
}

// TestFaultsOfTheDestination: call after call of the destination, and operation
// after operation of its file system, fails in a backup. It says so or has
// succeeded, earlier backups are whole, and the next run works.
func TestFaultsOfTheDestination(t *testing.T) {
	for _, below := range []bool{false, true} {
		w := newWorld(t)
		i := &injector{}
		w.put("a", "0")
		first := w.create(backup.Options{})
		records := maps.Clone(w.records)
		n := 0
		for at := 1; ; at += faults() {
			w.put("a", fmt.Sprint(at))
			// Each begins with the first backup: what others left would be more
			// and more to list.
			disk := w.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
			w.dest = faulty{object.NewFolder(disk, "backups"), i}
			if below {
				w.dest = object.NewFolder(errorfs.Wrap(disk, i), "backups")
			}
			i.from(at)
			res, err := w.tryCreate(backup.Options{})
			if !i.stop() {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			n++
			w.sound(backup.Keys{})
			w.restore(backup.Keys{}, first.Backup, records, nil)
			if err == nil {
				w.restore(backup.Keys{}, res.Backup, w.records, nil)
			}
			r, rerr := backup.LastRun(w.fs, "data")
			if rerr != nil || r.Last == nil || (err == nil) != (r.Last.Error == "") {
				t.Fatalf("failure at %d: %v, and the record is %+v, %v", at, err, r.Last, rerr)
			}
		}
		w.create(backup.Options{})
		w.sound(backup.Keys{})
		w.restore(backup.Keys{}, "", w.records, nil)
		if n == 0 {
			t.Error("nothing failed")
		}
		t.Logf("%d failures", n)
	}
}

// TestFaultsOfReading: the same in verify and restore. Nothing that could not
// be read is told to be sound, and nothing of a restore that failed stays.
func TestFaultsOfReading(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t)
	w.put("a", "1")
	w.pack("pack-1.pack", 100<<10)
	w.create(backup.Options{Mirrors: true})
	i := &injector{}
	folder := w.dest
	for name, dest := range map[string]object.Store{
		"calls": faulty{folder, i}, "operations": object.NewFolder(errorfs.Wrap(w.disk, i), "backups"),
	} {
		for at := 1; ; at += faults() {
			i.from(at)
			v, err := backup.Verify(ctx, dest, backup.VerifyOptions{})
			if !i.stop() {
				break
			}
			if err == nil && len(v.Damage) == 0 && name == "calls" {
				t.Errorf("verify with a failure at call %d: got %+v, want an error", at, v)
			}
		}
		for at := 1; ; at += faults() {
			fs := vfs.NewMem()
			i.from(at)
			_, err := backup.Restore(ctx, dest, fs, "new", backup.RestoreOptions{})
			if reached := i.stop(); !reached {
				break
			}
			if (err == nil) != exists(fs, "new") {
				t.Errorf("%s: failure at %d: got %v, and the directory is there %t", name, at, err, exists(fs, "new"))
			}
		}
	}
	// and where it is restored to
	for _, there := range []bool{false, true} {
		n := 0
		for at := 1; ; at += faults() {
			mem := vfs.NewMem()
			if there {
				mkdirDurably(t, mem, "new")
			}
			i.from(at)
			_, err := backup.Restore(ctx, folder, errorfs.Wrap(mem, i), "new", backup.RestoreOptions{})
			if !i.stop() {
				break
			}
			n++
			// Only what comes after the last rename can fail with the index there.
			if err != nil && !exists(mem, "new/index") {
				if _, err := backup.Restore(ctx, folder, mem, "new", backup.RestoreOptions{}); err != nil {
					t.Errorf("after a failure at %d: %v", at, err)
					continue
				}
			}
			same(t, mem, "new", w.records)
		}
		t.Logf("%d failures", n)
	}
}
