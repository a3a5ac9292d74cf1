package store_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/shard"
)

// trial is what a store is put through, and what was acknowledged of it.
type trial struct {
	t     *testing.T
	s     *store.Store
	fault string
	// users and shards are those acknowledged.
	users, shards int
	docs          []shard.Document
	texts         []string
	// builder is that of all shards, since its table takes milliseconds to make.
	builder *postings.Builder
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
	var c store.Records
	c.Put(store.RecordUser, []byte{byte(x.users)}, []byte("user"))
	if x.s.CommitRecords(&c) == nil {
		x.users++
	}
}

// big commits more than the engine keeps in memory, so that it writes tables
// in the background, in batches of all its kinds.
func (x *trial) big() {
	for i, size := range []int{64 << 10, 192 << 10, 64 << 10} {
		var c store.Records
		c.Put(store.RecordJobResult, []byte{byte(i)}, make([]byte, size))
		_ = x.s.CommitRecords(&c) // whether it is there does not matter
	}
}

func (x *trial) shard() {
	w := x.s.NewShardWriterWith(x.builder)
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
	if x.s.Commit(store.Change{Add: []shard.Header{h}}) == nil {
		x.shards++
	}
}

// copies makes a checkpoint, which has everything if it is acknowledged.
func (x *trial) copies(f *faulty) {
	c, err := x.s.Checkpoint()
	if err != nil {
		return
	}
	defer c.Close() // what it cannot remove, the next one does
	copied := *x
	if copied.s, err = store.Open(c.Dir(), readOnly(f)); err != nil {
		return
	}
	copied.whileFaulty()
	_ = copied.s.Close() // nothing was written
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
		if list, err := listOf(v); err != nil || !slices.Equal(list, x.list()) {
			x.t.Errorf("%s: %s: the posting list is %v, %v, want %v", x.fault, when, list, err, x.list())
		}
	}
}

// word stands in lines of all documents that have one.
const word = "line"

// list returns the blocks in which word begins.
func (x *trial) list() []uint16 {
	var list []uint16
	first := 0
	for _, text := range x.texts {
		for b := range postings.BlockCount(len(text)) {
			at := b * postings.BlockBytes
			if strings.Contains(text[at:min(at+postings.BlockBytes+postings.OverlapBytes, len(text))], word[:3]) {
				list = append(list, uint16(first+b))
			}
		}
		first += postings.BlockCount(len(text))
	}
	return list
}

// listOf reads the posting list of word's first trigram.
func listOf(v shard.View) ([]uint16, error) {
	r := v.ListReader()
	defer r.Close()
	enc, err := v.Lists(shard.FieldContent, r).List(nil, postings.Trigram(word[0])<<16|postings.Trigram(word[1])<<8|postings.Trigram(word[2]))
	if err != nil {
		return nil, err
	}
	var set postings.Set
	if err := set.Decode(enc); err != nil {
		return nil, err
	}
	return slices.Collect(set.All()), nil
}

// A world is what is on disk when the disk begins to fail.
type world struct {
	name string
	disk *vfs.MemFS
	// users and shards are those in it.
	users, shards int
}

// faultWorlds returns an empty disk, one with a store that was closed, and one
// with a store that was killed in the middle of something, whose log has to be
// read.
func faultWorlds(t *testing.T, docs []shard.Document, texts []string, b *postings.Builder) []world {
	mem := vfs.NewCrashableMem()
	x := &trial{t: t, docs: docs, texts: texts, builder: b, fault: "no fault"}
	worlds := []world{{name: "nothing", disk: whole(mem)}}
	var err error
	if x.s, err = store.Open("data", withShortPauses(mem)); err != nil {
		t.Fatal(err)
	}
	x.shard()
	x.user()
	closeStore(t, x.s)
	worlds = append(worlds, world{"a store that was closed", whole(mem), x.users, x.shards})
	if x.s, err = store.Open("data", withShortPauses(mem)); err != nil {
		t.Fatal(err)
	}
	x.shard()
	x.user()
	w := x.s.NewShardWriterWith(b)
	for i := range docs {
		if err := w.AddDocument(docs[i], []byte(texts[i]), true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(context.Background()); err != nil { // a shard without an owner
		t.Fatal(err)
	}
	worlds = append(worlds, world{"a store that was killed", whole(mem), x.users, x.shards})
	w.Close()
	closeStore(t, x.s)
	return worlds
}

// whole copies all of a disk.
func whole(mem *vfs.MemFS) *vfs.MemFS {
	return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

// faultTrial is one call that fails, and what is done about it.
type faultTrial struct {
	world world
	n     int
	cause int
	stays bool
	// mend says that the disk is well again before the store is closed.
	mend bool
}

func (c faultTrial) about(f *faulty) string {
	return fmt.Sprintf("on a disk with %s, mended: %v: %s", c.world.name, c.mend, f.about())
}

// TestFaults: whatever call of the file system is the first to fail, once or
// from then on, while a store is made, opened, written, read, copied and closed:
// the process goes on, what was acknowledged is there, and when the disk is well
// again the same store takes changes, and the next one has it all.
// TRAWL_FAULTS=all tries every call; less than that is a sample of so many.
func TestFaults(t *testing.T) {
	docs, texts := documents(faultSeed, 3)
	worlds := faultWorlds(t, docs, texts, postings.NewBuilder())
	trials, calls := allFaults(t, worlds, docs, texts)
	seed := uint64(os.Getpid())
	if sample, err := strconv.Atoi(os.Getenv("TRAWL_FAULTS")); os.Getenv("TRAWL_FAULTS") != "all" {
		if err != nil {
			sample = 60
		}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		trials = trials[:min(sample, len(trials))]
	}
	next := make(chan faultTrial, len(trials))
	for _, c := range trials {
		next <- c
	}
	close(next)
	var mu sync.Mutex
	hits := map[string]int{}
	t.Run("trials", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				b := postings.NewBuilder()
				for c := range next {
					_, kind := tryFault(t, docs, texts, b, c)
					mu.Lock()
					hits[kind]++
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("seed %d: %d trials, of %s", seed, len(trials), calls)
	var told []string
	for _, kind := range slices.Sorted(maps.Keys(hits)) {
		told = append(told, fmt.Sprintf("%s %d", kind, hits[kind]))
	}
	t.Logf("what failed: %s", strings.Join(told, ", "))
}

// faultSeed makes documents of 40,000, 50 and 50 bytes: two chunks of text.
const faultSeed = 29

// quietRuns are made to learn how many calls there are, which differs with what
// the engine does in the background.
const quietRuns = 5

// allFaults returns every call with every cause that it can fail with, and how
// many calls there are.
func allFaults(t *testing.T, worlds []world, docs []shard.Document, texts []string) (trials []faultTrial, about string) {
	var counts []string
	b := postings.NewBuilder()
	for _, w := range worlds {
		most := 0
		for _, mend := range []bool{true, false} {
			var calls [3]int
			for range quietRuns {
				n, _ := tryFault(t, docs, texts, b, faultTrial{world: w, mend: mend})
				for i := range calls {
					calls[i] = max(calls[i], n[i])
				}
			}
			most = max(most, calls[0])
			for cause, n := range calls {
				for n := range n {
					trials = append(trials, faultTrial{w, n + 1, cause, false, mend}, faultTrial{w, n + 1, cause, true, mend})
				}
			}
		}
		counts = append(counts, fmt.Sprintf("%d calls on a disk with %s", most, w.name))
	}
	return trials, strings.Join(counts, ", ")
}

// tryFault returns how many calls there were until the disk was well again, and
// what the one that failed was to do.
func tryFault(t *testing.T, docs []shard.Document, texts []string, b *postings.Builder, c faultTrial) (calls [3]int, kind string) {
	t.Helper()
	f := newFaulty(whole(c.world.disk), c.n, c.cause, c.stays)
	x := &trial{t: t, docs: docs, texts: texts, builder: b, users: c.world.users, shards: c.world.shards, fault: c.about(f)}
	within(t, x.fault, func() {
		if x.open(f) == nil {
			x.run()
			x.whileFaulty()
			x.copies(f)
			if c.mend {
				calls, kind = f.heal()
				x.fault = c.about(f)
				x.mended()
			}
			if err := x.s.Close(); c.n == 0 && err != nil {
				t.Errorf("Close: %v", err)
			}
		} else if c.n == 0 {
			t.Errorf("a good %s does not open", c.world.name)
		}
		if n, failed := f.heal(); calls[0] == 0 {
			calls, kind = n, failed
		}
		x.fault = c.about(f)
		if err := x.open(f); err != nil {
			t.Errorf("%s: Open afterwards: %v", x.fault, err)
			return
		}
		x.acknowledged("opened again", 5)
		x.goesOn()
		if err := x.s.Close(); err != nil {
			t.Errorf("%s: Close afterwards: %v", x.fault, err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return calls, kind
}

func withShortPauses(fs disk.FS) store.Options {
	return store.Options{FS: fs, CacheBytes: 8 << 20}.WithShortPauses()
}

func readOnly(fs disk.FS) store.Options {
	o := withShortPauses(fs)
	o.ReadOnly = true
	return o
}

func (x *trial) open(fs disk.FS) (err error) {
	x.s, err = store.Open("data", withShortPauses(fs))
	return err
}

// mended is what a store has to do once its disk is well again.
func (x *trial) mended() {
	if err := x.s.Mend(); err != nil {
		x.t.Errorf("%s: Mend: %v", x.fault, err)
	}
	x.acknowledged("mended", 4)
	x.goesOn()
}

// whileFaulty reads: what is read is right, or an error.
func (x *trial) whileFaulty() {
	var ids []byte
	err := x.s.EachRecord(store.RecordRange{Kind: store.RecordUser}, func(id, _ []byte) (bool, error) {
		ids = append(ids, id...)
		return true, nil
	})
	for i := range x.users {
		if err == nil && !bytes.Contains(ids, []byte{byte(i)}) {
			x.t.Errorf("%s: user %d is not told", x.fault, i)
		}
	}
	sn := x.s.Snapshot()
	defer sn.Close()
	if len(sn.Shards()) < x.shards {
		x.t.Errorf("%s: %d shards are told, want %d", x.fault, len(sn.Shards()), x.shards)
	}
	for _, v := range sn.Shards() {
		if list, err := listOf(v); err == nil && !slices.Equal(list, x.list()) {
			x.t.Errorf("%s: a posting list is read as %v, want %v", x.fault, list, x.list())
		}
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
