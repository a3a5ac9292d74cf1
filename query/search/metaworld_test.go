package search_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/cluster/memorylog"
	"github.com/trawlsearch/trawl/store/cluster/runs"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/object"
	"github.com/trawlsearch/trawl/store/shard"
)

// metaRepo is a repository that changes while a test runs: what its default
// branch and the branch w hold.
type metaRepo struct {
	name, dir string
	main, w   tree
	commits   int
}

// commit puts files on a branch.
func (r *metaRepo) commit(t testing.TB, branch string, files tree) {
	t.Helper()
	r.commits++
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/%s\ncommitter C <c@example.org> %d +0000\ndata 1\nx\n", branch, 1_000_000_000+1000*r.commits)
	if r.commits > 1 {
		fmt.Fprint(&b, "from refs/heads/main^0\n")
	}
	fmt.Fprint(&b, "deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "M 100644 inline %q\ndata %d\n%s\n", path, len(files[path]), files[path])
	}
	runGit(t, r.dir, b.String(), "fast-import", "--quiet", "--force")
}

// metaStore is one of the stores that are to answer alike, with the options that
// tell it from the others.
type metaStore struct {
	corpus
	name string
	fs   *vfs.MemFS
	dir  string
	// cacheBytes and options are what it is opened with.
	cacheBytes int64
	options    ingest.Options
	settings   search.Settings
	// backwards says that repositories are added and synced in another order.
	backwards bool
	ix        *ingest.Indexer
}

func metaStores() []*metaStore {
	return []*metaStore{
		{name: "small shards", cacheBytes: 1 << 20, options: ingest.Options{ShardBlocks: 12}, settings: search.Settings{Workers: 1}},
		{name: "large shards", cacheBytes: 32 << 20, settings: search.Settings{Workers: 3}, backwards: true},
		{name: "much scanned", cacheBytes: 4 << 20, options: ingest.Options{ShardBlocks: 40, MaxIndexedBytes: 300, HistoryCommits: -1}, settings: search.Settings{Workers: 2}},
	}
}

func (s *metaStore) open(t testing.TB) {
	t.Helper()
	var err error
	if s.st, err = store.Open(s.dir, store.Options{FS: s.fs, CacheBytes: s.cacheBytes}); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	s.options.MinFreeBytes = -1
	s.ix = ingest.New(s.st, s.options)
}

// metaWorld is the repositories and the stores that index them.
type metaWorld struct {
	repos  []*metaRepo
	stores []*metaStore
	// opened counts places where stores were put.
	opened int
}

func newMetaWorld(t testing.TB) *metaWorld {
	w := &metaWorld{stores: metaStores()}
	for i, name := range []string{"example.org/one", "example.org/two", "three"} {
		r := &metaRepo{name: name, dir: t.TempDir()}
		runGit(t, r.dir, "", "init", "-q", "--bare", "-b", "main", r.dir)
		r.main = changed(rand.New(rand.NewPCG(uint64(i), 3)), tree{})
		r.w = r.main
		r.commit(t, "main", r.main)
		r.commit(t, "w", r.w)
		w.repos = append(w.repos, r)
	}
	for _, s := range w.stores {
		s.fs, s.dir = vfs.NewCrashableMem(), "data"
		s.open(t)
	}
	return w
}

func (w *metaWorld) close(t testing.TB) {
	for _, s := range w.stores {
		s.close(t)
	}
}

// sync brings a repository of a store up to date.
func (s *metaStore) sync(t testing.TB, r *metaRepo, stars int) {
	t.Helper()
	ctx := context.Background()
	if _, err := s.ix.Add(ctx, ingest.Source{Name: r.name, Location: r.dir}); err != nil {
		t.Fatal(err)
	}
	// Stars order the repositories, whatever their numbers are.
	branches := []string{}
	if !s.backwards {
		branches = []string{"w"}
	}
	if _, err := s.st.Repositories().ChangeFacts(r.name, store.FactsChange{Stars: &stars, Branches: &branches}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ix.Sync(ctx, r.name, nil); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// settle brings a store to where all stores are to answer alike.
func (w *metaWorld) settle(t testing.TB, s *metaStore) {
	t.Helper()
	for i := range w.repos {
		if s.backwards {
			i = len(w.repos) - 1 - i
		}
		s.sync(t, w.repos[i], 10+i)
	}
	s.missingSymbols(t)
}

// missingSymbols writes the symbols of the shards that have none.
func (s *metaStore) missingSymbols(t testing.TB) {
	t.Helper()
	sn := s.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		if !v.HasSymbols() && !v.Header.IsHistory() {
			s.symbolsOf(t, v)
		}
	}
}

// age has all shards count as those of an older index.
func (s *metaStore) age(t testing.TB) {
	t.Helper()
	sn := s.st.Snapshot()
	defer sn.Close()
	var c store.Change
	for _, v := range sn.Shards() {
		h := v.Header
		h.Index = shard.IndexFoldedLists
		c.Add = append(c.Add, h)
	}
	if err := s.st.Commit(c); err != nil {
		t.Fatal(err)
	}
}

// restart closes a store and opens it again, with another size of caches.
func (s *metaStore) restart(t testing.TB) {
	t.Helper()
	s.close(t)
	s.cacheBytes = 1<<20 + (s.cacheBytes*3)%(40<<20)
	s.open(t)
}

// crash opens what is left when the power fails now.
func (s *metaStore) crash(t testing.TB) {
	t.Helper()
	left := s.fs.CrashClone(vfs.CrashCloneCfg{})
	s.close(t)
	s.fs = left
	s.open(t)
}

// restore goes on with a checkpoint, in another place.
func (w *metaWorld) restore(t testing.TB, s *metaStore) {
	t.Helper()
	c, err := s.st.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	w.opened++
	dir := fmt.Sprint("restored", w.opened)
	if ok, err := vfs.Clone(s.fs, s.fs, c.Dir(), dir, vfs.CloneSync); !ok || err != nil {
		t.Fatalf("copy a checkpoint: %t, %v", ok, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	s.close(t)
	s.dir = dir
	s.open(t)
}

// move imports a store into a cluster, and goes on with the directory of a node of it,
// which was detached. The store, the node, another one and what was detached give the
// same answers in the same order.
func (w *metaWorld) move(t testing.TB, s *metaStore, rng *rand.Rand) {
	t.Helper()
	queries := []string{randomQuery(rng), randomQuery(rng), "type:commit x"}
	ask := func() (out []string) {
		for _, q := range queries {
			out = append(out, s.search(t, s.settings, search.Options{}, q+" count:50", query.Keyword).lines()...)
		}
		return out
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	want := ask()
	s.close(t)
	w.opened++
	dirs := []string{fmt.Sprint("other", w.opened), fmt.Sprint("node", w.opened)}
	o := store.Options{FS: s.fs, CacheBytes: s.cacheBytes}
	log, objects := memorylog.New(1, false), runs.New(object.NewFolder(s.fs, fmt.Sprint("objects", w.opened)))
	_, err := store.Import(context.Background(), s.dir, o, store.ImportTarget{Log: log, Runs: objects})
	must(err)
	shared := o
	shared.Log, shared.Runs = log, objects
	for _, dir := range dirs {
		s.st, err = store.Open(dir, shared)
		must(err)
		if got := ask(); !slices.Equal(got, want) {
			t.Fatalf("%s: a node answers %q otherwise\n%s", s.name, queries, firstDifference(got, want))
		}
		must(s.st.Close())
	}
	s.dir = dirs[1]
	_, err = store.Detach(s.dir, o)
	must(err)
	s.open(t)
	if got := ask(); !slices.Equal(got, want) {
		t.Fatalf("%s: a store that was moved answers %q otherwise\n%s", s.name, queries, firstDifference(got, want))
	}
}
