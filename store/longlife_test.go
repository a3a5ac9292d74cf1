package store_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// blackout takes what a power failure would leave, once, at a call to come.
type blackout struct {
	mem *vfs.MemFS

	mu   sync.Mutex
	rng  *rand.Rand
	in   int // calls until then, 0 for never
	left *vfs.MemFS
}

// MaybeError implements errorfs.Injector.
func (b *blackout) MaybeError(errorfs.Op) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in > 0 {
		if b.in--; b.in == 0 {
			b.left = b.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[b.rng.IntN(3)], RNG: b.rng})
		}
	}
	return nil
}

func (*blackout) String() string { return "blackout" }

func (b *blackout) arm(in int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.in = in
}

// take returns what the power failure left, nil if there was none.
func (b *blackout) take() *vfs.MemFS {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.left
	b.left = nil
	return left
}

// life is a store that is written, closed and killed.
type life struct {
	*testing.T
	rng     *rand.Rand
	builder *postings.Builder
	seed    uint64
	disk    *blackout
	s       *store.Store
	commits int
	// facts are what was committed: the number of documents of each shard, the
	// length of each record.
	facts map[string]int
}

// must ends the test over an error.
func (l *life) must(err error) {
	if err != nil {
		l.Helper()
		l.Fatalf("seed %d, commit %d: %v", l.seed, l.commits, err)
	}
}

// open opens the store that stands in mem.
func (l *life) open(mem *vfs.MemFS) {
	l.Helper()
	l.disk = &blackout{mem: mem, rng: rand.New(rand.NewPCG(l.seed, uint64(l.commits)))}
	s, err := store.Open("data", store.Options{FS: errorfs.Wrap(mem, l.disk), CacheBytes: 8 << 20}.WithShortPauses())
	l.must(err)
	l.s = s
}

// size is a random one, the small ones more often.
func (l *life) size(of ...int) int { return of[min(l.rng.IntN(len(of)), l.rng.IntN(len(of)))] }

// commit commits a shard of a few documents, or none, and a record, and drops
// a shard when there are many.
func (l *life) commit() {
	l.Helper()
	c := store.Change{}
	if n := l.rng.IntN(3); n > 0 {
		h := l.shard(n)
		c.Add = []shard.Header{h}
		l.facts[shardFact(h.ID)] = n
	}
	if sn := l.s.Snapshot(); len(sn.Shards()) > 60 {
		c.Drop = []uint32{sn.Shards()[l.rng.IntN(60)].ID}
		delete(l.facts, shardFact(c.Drop[0]))
		l.must(sn.Close())
	} else {
		l.must(sn.Close())
	}
	l.must(l.s.Commit(c))
	name, size := fmt.Sprint("record ", l.rng.IntN(500)), l.size(0, 1, 100, 5000, 70_000)
	var r store.Records
	r.Put(store.RecordUser, []byte(name), make([]byte, size))
	l.must(l.s.CommitRecords(&r))
	l.facts[name] = size
	l.commits++
}

func shardFact(id uint32) string { return fmt.Sprint("shard ", id) }

// shard writes a shard of n documents.
func (l *life) shard(n int) shard.Header {
	w := l.s.NewShardWriterWith(l.builder)
	defer w.Close()
	for i := range n {
		text := bytes.Repeat([]byte("abcdefg\n"), 8192)[:l.size(0, 1, 60, 4095, 4096, 4097, 32767, 32768, 32769, 65536)]
		d := shard.Document{Repository: 1, Path: fmt.Sprint(i), OID: make([]byte, 20), Mode: 0o100644, FileBytes: uint32(len(text))}
		l.must(w.AddDocument(d, text, true))
	}
	h, err := w.Finish(context.Background())
	l.must(err)
	return h
}

// read returns the facts that a store holds.
func (l *life) read(s *store.Store) map[string]int {
	l.Helper()
	facts := map[string]int{}
	sn := s.Snapshot()
	if h := sn.Health(); len(h.Aside)+len(h.Records) > 0 {
		l.must(fmt.Errorf("found damaged: %+v", h))
	}
	for _, v := range sn.Shards() {
		docs, err := v.Documents()
		l.must(err)
		facts[shardFact(v.ID)] = docs.Len()
	}
	l.must(sn.Close())
	l.must(s.EachRecord(store.RecordRange{Kind: store.RecordUser}, func(id, value []byte) (bool, error) {
		facts[string(id)] = len(value)
		return true, nil
	}))
	return facts
}

// differ compares facts with those before and after the last commit, which may
// have been cut short.
func differ(got, before, after map[string]int) error {
	all := maps.Clone(before)
	maps.Copy(all, after)
	maps.Copy(all, got)
	for name := range all {
		has := func(in map[string]int) string {
			if n, ok := in[name]; ok {
				return fmt.Sprint(n)
			}
			return "nothing"
		}
		if g := has(got); g != has(before) && g != has(after) {
			return fmt.Errorf("%s has %s, want %s or %s", name, g, has(before), has(after))
		}
	}
	return nil
}

// A store of many commits of random sizes opens with everything in it whenever it
// is closed or killed. TRAWL_COMMITS is how many commits there are.
func TestManyCommits(t *testing.T) {
	commits := 2500
	if race.Enabled || testing.Short() {
		commits = 300
	}
	if n, err := strconv.Atoi(os.Getenv("TRAWL_COMMITS")); err == nil {
		commits = n
	}
	seed := rand.Uint64()
	l := &life{T: t, rng: rand.New(rand.NewPCG(seed, 1)), builder: postings.NewBuilder(), seed: seed, facts: map[string]int{}}
	l.open(vfs.NewCrashableMem())
	kills, lives, manifest := 0, 1, 0
	for l.commits < commits {
		if l.rng.IntN(15) == 0 {
			l.disk.arm(1 + l.rng.IntN(40))
		}
		before := maps.Clone(l.facts)
		l.commit()
		left := l.disk.take()
		goesOn := l.rng.IntN(500) == 0 // from what is left, or from a store that was closed
		switch {
		case left != nil && !goesOn:
			kills++
			s, err := store.Open("data", store.Options{FS: left, CacheBytes: 8 << 20})
			l.must(err)
			l.must(differ(l.read(s), before, l.facts))
			closeStore(t, s)
		case goesOn:
			manifest = max(manifest, len(readFile(t, l.disk.mem, manifestOf(t, l.disk.mem))))
			lives++
			closeStore(t, l.s)
			if left == nil {
				left, before = l.disk.take(), l.facts // killed while it was closed
			}
			if left == nil {
				left = l.disk.mem
			}
			l.open(left)
			got := l.read(l.s)
			l.must(differ(got, before, l.facts))
			l.facts = got
		}
	}
	closeStore(t, l.s)
	t.Logf("seed %d: %d commits in %d lives, killed %d times more, the longest manifest has %d bytes", seed, l.commits, lives, kills, manifest)
}

// A store of many small commits, whose manifest goes over many blocks, opens
// after a power failure and after it was closed. TRAWL_SMALL_COMMITS is how many
// there are.
func TestManySmallCommits(t *testing.T) {
	commits := race.Scaled(1500, 300)
	if n, err := strconv.Atoi(os.Getenv("TRAWL_SMALL_COMMITS")); err == nil {
		commits = n
	}
	mem := vfs.NewCrashableMem()
	l := &life{T: t, rng: rand.New(rand.NewPCG(1, 1)), builder: postings.NewBuilder(), facts: map[string]int{}}
	l.open(mem)
	for ; l.commits < commits; l.commits++ {
		h := l.shard(1)
		c := store.Change{Add: []shard.Header{h}}
		l.facts[shardFact(h.ID)] = 1
		if old := shardFact(h.ID - 50); l.facts[old] > 0 {
			c.Drop = []uint32{h.ID - 50}
			delete(l.facts, old)
		}
		l.must(l.s.Commit(c))
	}
	manifest := len(readFile(t, mem, manifestOf(t, mem)))
	left := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: l.rng})
	closeStore(t, l.s)
	for about, fs := range map[string]vfs.FS{"killed": left, "closed": mem} {
		began := time.Now()
		s := open(t, fs)
		took := time.Since(began)
		l.must(differ(l.read(s), l.facts, l.facts))
		closeStore(t, s)
		t.Logf("%d commits, a manifest of %d bytes: opened in %s after it was %s", commits, manifest, took, about)
	}
	if commits >= 1500 && manifest < 3<<15 {
		t.Errorf("the manifest has %d bytes, want three blocks or more", manifest)
	}
}
