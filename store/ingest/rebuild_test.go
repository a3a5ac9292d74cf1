package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// age has all shards say that their index is of the first version, as a store of
// an older program does, and returns how many there are.
func (f *fixture) age() int {
	f.t.Helper()
	sn := f.st.Snapshot()
	c := store.Change{}
	for _, v := range sn.Shards() {
		h := v.Header
		h.Index = shard.IndexFoldedLists
		c.Add = append(c.Add, h)
	}
	if err := errors.Join(sn.Close(), f.st.Commit(c)); err != nil {
		f.t.Fatal(err)
	}
	return len(c.Add)
}

// nameSymbols gives each document of each shard a symbol of the document's name.
func (f *fixture) nameSymbols() {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	w := f.st.NewSymbolWriter()
	defer w.Close()
	for _, v := range sn.Shards() {
		docs, err := v.Documents()
		if err != nil {
			f.t.Fatal(err)
		}
		if err := w.Begin(v); err != nil {
			f.t.Fatal(err)
		}
		for i := range docs.Len() {
			if err := w.Add(uint16(i), []shard.Symbol{{Name: docs.Path(i), Kind: "file", Line: 1}}); err != nil {
				f.t.Fatal(err)
			}
		}
		if err := errors.Join(w.Seal(), w.Finish(context.Background(), shard.SymbolCounts{Documents: docs.Len(), Failed: 1})); err != nil {
			f.t.Fatal(err)
		}
	}
}

// wantNamed checks that the shards have the symbols of nameSymbols, and that one
// document a shard counts as failed as often as wanted.
func (f *fixture) wantNamed(failed int) {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	for _, v := range sn.Shards() {
		docs, err := v.Documents()
		if err != nil {
			f.t.Fatal(err)
		}
		if !v.HasSymbols() || v.Header.Symbols.Symbols != docs.Len() {
			f.t.Errorf("shard %d of %d documents tells of symbols %+v", v.ID, docs.Len(), v.Header.Symbols)
			continue
		}
		failed -= v.Header.Symbols.Failed
		for i := range docs.Len() {
			got, err := v.Symbols(nil, uint16(i))
			if err != nil || len(got) != 1 || got[0].Name != docs.Path(i) {
				f.t.Errorf("symbols of %s: %v, %v; want one of its name", docs.Path(i), got, err)
			}
		}
	}
	if failed != 0 {
		f.t.Errorf("%d documents too few count as failed", failed)
	}
}

// TestRebuild: shards of an older index are rewritten with all that belongs to
// them, once, and a snapshot of before keeps what it saw.
func TestRebuild(t *testing.T) {
	yields := 0
	f := newFixture(t, ingest.Options{ShardBlocks: 100, Yield: func(context.Context, time.Duration) time.Duration { yields++; return 0 }})
	repos, want := map[string]*repo{}, map[string]map[string]string{}
	for k := range 3 {
		name, r := fmt.Sprint("r", k), newRepo(t)
		repos[name], want[name] = r, map[string]string{}
		for i := range 80 {
			want[name][fmt.Sprintf("d/f%d.go", i)] = fmt.Sprintf("Spin_Lock %d of %s\n", i, name)
		}
		r.write(want[name])
		r.commit()
		f.sync(name, r)
	}
	// Dead documents, and others that one branch lacks.
	r := repos["r1"]
	r.git("branch", "old")
	r.git("rm", "-q", "d/f7.go")
	r.write(map[string]string{"d/f8.go": "changed\n"})
	r.commit()
	f.index("r1", "old")
	former := maps.Clone(want["r1"])
	delete(want["r1"], "d/f7.go")
	want["r1"]["d/f8.go"] = "changed\n"
	f.sync("r1", r)
	f.nameSymbols()
	n := f.age()
	if o := ingest.CountOutdated(f.st); o.Shards != n || o.All != n || o.TextBytes == 0 {
		t.Errorf("Outdated: %+v, want %d shards and their text", o, n)
	}
	before := f.st.Snapshot()
	defer before.Close()
	phases := map[string]int{}
	got, err := f.ix.Merger.Rebuild(context.Background(), func(p ingest.Progress) { phases[p.Phase]++ })
	if err != nil || got != n || len(phases) != 1 || phases["rebuild"] < n || yields == 0 {
		t.Errorf("Rebuild: %d shards, %v, progress %v, %d yields; want %d shards", got, err, phases, yields, n)
	}
	for name, files := range want {
		f.want(name, files)
	}
	f.wantBranch("r1", 1, former)
	f.wantNamed(n)
	checkLists(t, f.st)
	if o := ingest.CountOutdated(f.st); o.Shards != 0 {
		t.Errorf("Outdated behind Rebuild: %+v, want none", o)
	}
	if again, err := f.ix.Merger.Rebuild(context.Background(), nil); again != 0 || err != nil {
		t.Errorf("Rebuild again: %d shards, %v; want none", again, err)
	}
	for _, v := range before.Shards() {
		if _, err := v.Documents(); err != nil || v.Header.Index != shard.IndexFoldedLists {
			t.Errorf("shard %d in the snapshot of before has index version %d, %v", v.ID, v.Header.Index, err)
		}
	}
}

// TestRebuildCancelled: what is cancelled leaves the old shards, and nothing
// else.
func TestRebuildCancelled(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	r := newRepo(t)
	files := map[string]string{"a": "Spin_Lock\n", "b": "spin_lock\n"}
	r.write(files)
	r.commit()
	f.sync("r", r)
	n := f.age()
	ctx, cancel := context.WithCancel(context.Background())
	if got, err := f.ix.Merger.Rebuild(ctx, func(ingest.Progress) { cancel() }); got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled Rebuild: %d shards, %v; want context.Canceled", got, err)
	}
	if o := ingest.CountOutdated(f.st); o.Shards != n || o.All != n {
		t.Errorf("Outdated: %+v, want the %d shards of before", o, n)
	}
	f.want("r", files)
	if stray := strayShards(f.st); len(stray) > 0 {
		t.Errorf("shards %v belong to no repository", stray)
	}
}

// TestMergeKeepsSymbols: merged shards have the symbols of those they were made
// of.
func TestMergeKeepsSymbols(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	for k := range 5 {
		r := newRepo(t)
		r.write(map[string]string{fmt.Sprintf("f%d.go", k): "x\n", "same.go": "y\n"})
		r.commit()
		f.sync(fmt.Sprint("r", k), r)
	}
	f.nameSymbols()
	if n, err := f.ix.Merger.Merge(context.Background(), nil); err != nil || n != 5 {
		t.Fatalf("merged %d shards, %v; want 5", n, err)
	}
	f.wantNamed(5)
}
