package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// crash is what a power failure would have left, and what has to be in it.
type crash struct {
	fs *vfs.MemFS
	// acknowledged are the repositories' files after the last call that
	// returned, next those of the repository at work once its call returns.
	acknowledged map[string]map[string]string
	name         string
	next         map[string]string
}

// crasher takes crashes between the operations of a file system.
type crasher struct {
	mem *vfs.MemFS

	mu      sync.Mutex
	rng     *rand.Rand
	now     crash
	crashes []crash
}

func (c *crasher) MaybeError(errorfs.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rng.IntN(6) == 0 {
		taken := c.now
		taken.acknowledged = maps.Clone(taken.acknowledged)
		taken.fs = c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[c.rng.IntN(3)], RNG: c.rng})
		c.crashes = append(c.crashes, taken)
	}
	return nil
}

func (*crasher) String() string { return "crasher" }

func (c *crasher) begin(name string, next map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.name, c.now.next = name, maps.Clone(next)
}

func (c *crasher) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.name != "" {
		c.now.acknowledged[c.now.name] = c.now.next
	}
	c.now.name, c.now.next = "", nil
}

// take returns some of the crashes since the last call.
func (c *crasher) take(n int) []crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.crashes
	c.crashes = nil
	c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// TestCrash: the power fails anywhere in syncs, merges and rewrites of shards of
// several repositories. What was acknowledged is there, the repository at work is at
// its last or its next generation, posting lists and text agree, and the next
// sync and merge go on.
func TestCrash(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 8))
		c := &crasher{mem: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(seed, 9)), now: crash{acknowledged: map[string]map[string]string{}}}
		options := ingest.Options{ShardBlocks: 20, MinFreeBytes: -1}
		st, err := store.Open("data", store.Options{FS: errorfs.Wrap(c.mem, c), CacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t, st, ingest.New(st, options)}
		repos := []*repo{newRepo(t), newRepo(t)}
		state := []map[string]string{{}, {}}
		for range 8 {
			k := rng.IntN(len(repos))
			name := fmt.Sprint("r", k)
			change(rng, repos[k], state[k])
			// A second branch stays one step behind.
			c.begin(name, state[k])
			f.sync(name, repos[k])
			c.end()
			repos[k].git("branch", "-f", "w")
			f.index(name, "w")
			if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			f.age()
			if _, err := f.ix.Merger.Rebuild(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			for _, crash := range c.take(6) {
				crash.check(t, options, repos)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// change writes and removes some files and commits.
func change(rng *rand.Rand, r *repo, state map[string]string) {
	for range 1 + rng.IntN(12) {
		path := fmt.Sprintf("dir%d/f%d.txt", rng.IntN(3), rng.IntN(15))
		if _, ok := state[path]; ok && rng.IntN(3) == 0 {
			delete(state, path)
			os.Remove(filepath.Join(r.dir, path))
			continue
		}
		state[path] = strings.Repeat(fmt.Sprintf("%s %d\n", path, rng.IntN(1000)), rng.IntN(600))
		r.write(map[string]string{path: state[path]})
	}
	r.commit()
}

func (c crash) check(t *testing.T, options ingest.Options, repos []*repo) {
	t.Helper()
	st, err := store.Open("data", store.Options{FS: c.fs, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t, st, ingest.New(st, options)}
	for k := range repos {
		name := fmt.Sprint("r", k)
		want, ok := c.acknowledged[name]
		if !ok && name != c.name {
			continue
		}
		sn := st.Snapshot()
		_, err := sn.Repository(name)
		sn.Close()
		if err != nil && !ok {
			continue // not added yet
		}
		if got := f.documents(name); name == c.name && maps.Equal(got, c.next) {
			want = c.next
		}
		f.want(name, want)
	}
	checkLists(t, st)
	if shards := strayShards(st); len(shards) > 0 {
		t.Errorf("shards %v belong to no repository", shards)
	}
	// The next start finishes the rest.
	for k := range repos {
		name := fmt.Sprint("r", k)
		if _, ok := c.acknowledged[name]; !ok {
			continue
		}
		f.sync(name, repos[k])
		if name == c.name {
			f.want(name, c.next)
		}
	}
	if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if _, err := f.ix.Merger.Rebuild(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if o := ingest.CountOutdated(f.st); o.Shards > 0 {
		t.Errorf("%d shards of %d are of an older index behind Rebuild", o.Shards, o.All)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// strayShards returns the shards that no repository names.
func strayShards(st *store.Store) []uint32 {
	sn := st.Snapshot()
	defer sn.Close()
	owned := map[uint32]bool{}
	for _, r := range sn.Repositories() {
		for _, id := range r.Shards {
			owned[id] = true
		}
	}
	var stray []uint32
	for _, v := range sn.Shards() {
		if !owned[v.ID] {
			stray = append(stray, v.ID)
		}
	}
	return stray
}

// checkLists: the lists of every trigram of a document's first line name it.
func checkLists(t *testing.T, st *store.Store) {
	t.Helper()
	sn := st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		docs, err := v.Documents()
		if err != nil {
			t.Fatal(err)
		}
		lists := v.ListReader()
		ev := postings.Evaluator{Reader: v.Lists(shard.FieldContent, lists)}
		text := v.Text()
		for i := range docs.Len() {
			b, err := text.Slice(docs.TextStart[i], docs.TextStart[i+1])
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(b), "\n")
			if line == "" {
				continue
			}
			found, err := ev.Eval(&postings.Literal{Runs: []string{strings.ToLower(line)}, Exact: line})
			if err != nil || !found.Docs.Contains(uint16(i)) {
				t.Errorf("shard %d: the lists do not find %q in %q: %v", v.ID, line, docs.Path(i), err)
			}
		}
		text.Close()
		lists.Close()
	}
}

// keyedShards returns the shards with keys in a closed data directory.
func keyedShards(t *testing.T, dir string) map[uint32]bool {
	t.Helper()
	db, err := pebble.Open(filepath.Join(dir, "index"), &pebble.Options{
		ReadOnly: true, FormatMajorVersion: pebble.FormatNewest, Logger: pebble.DefaultLogger,
		LoggerAndTracer: silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("s"), UpperBound: []byte("t")})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	out := map[uint32]bool{}
	for ok := it.First(); ok; ok = it.Next() {
		k := it.Key()
		out[uint32(k[1])<<24|uint32(k[2])<<16|uint32(k[3])<<8|uint32(k[4])] = true
	}
	return out
}

type silent struct{}

func (silent) Infof(string, ...any)                   {}
func (silent) Errorf(string, ...any)                  {}
func (silent) Fatalf(format string, args ...any)      { panic(fmt.Sprintf(format, args...)) }
func (silent) Eventf(context.Context, string, ...any) {}
func (silent) IsTracingEnabled(context.Context) bool  { return false }

// TestCancelledSync: a sync that ends early leaves nothing behind, not even
// before the next start, and the next one does it all.
func TestCancelledSync(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("f%d", i)] = fmt.Sprint("file ", i)
	}
	r.write(files)
	r.commit()
	dir := filepath.Join(t.TempDir(), "data")
	for range 2 {
		st, err := store.Open(dir, store.Options{CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t, st, ingest.New(st, ingest.Options{ShardBlocks: 40, MinFreeBytes: -1})}
		if _, err := f.ix.Add(context.Background(), ingest.Source{Name: "r", Location: r.dir}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		_, err = f.ix.Sync(ctx, "r", func(p ingest.Progress) {
			if p.Phase == "index" {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled sync: %v, want context.Canceled", err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if left := keyedShards(t, dir); len(left) > 0 {
			t.Fatalf("%d shards are left of a cancelled sync", len(left))
		}
	}
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	f := &fixture{t, st, ingest.New(st, ingest.Options{ShardBlocks: 40, MinFreeBytes: -1})}
	f.sync("r", r)
	f.want("r", files)
}

// TestBranchRenamed: a snapshot keeps the name that the branch had.
func TestBranchRenamed(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{"a": "a"})
	r.commit()
	f := newFixture(t, ingest.Options{})
	f.sync("r", r)
	sn := f.st.Snapshot()
	defer sn.Close()
	old, err := sn.Repository("r")
	if err != nil {
		t.Fatal(err)
	}
	r.git("branch", "-m", "main", "other")
	res := f.sync("r", r)
	if old.Branches[0].Name != "main" || res.Repository.Branches[0].Name != "other" {
		t.Errorf("branch is %q in the old snapshot and %q now, want main and other", old.Branches[0].Name, res.Repository.Branches[0].Name)
	}
}
