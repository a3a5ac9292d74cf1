package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ctags"
	"github.com/trawlsearch/trawl/store/ingest"
)

// universal returns the ctags of this machine.
func universal(t testing.TB) *ctags.Program {
	t.Helper()
	path, err := ctags.Find()
	if err != nil {
		needs.Skip(t, "ctags", err)
	}
	p, err := ctags.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// symbols returns the symbols of a repository's live documents, and fails for a
// shard without.
func (f *fixture) symbols(name string) map[string]string {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]string{}
	for _, id := range r.Shards {
		v, _ := sn.Shard(id)
		if !v.HasSymbols() {
			f.t.Errorf("shard %d has no symbols", id)
		}
		docs, err := v.Documents()
		if err != nil {
			f.t.Fatal(err)
		}
		for i := range docs.Len() {
			if docs.Repository[i] != r.ID || v.Dead != nil && v.Dead.Contains(uint16(i)) {
				continue
			}
			symbols, err := v.Symbols(nil, uint16(i))
			if err != nil {
				f.t.Fatal(err)
			}
			var names []string
			for _, s := range symbols {
				names = append(names, fmt.Sprintf("%s %s:%d:%d", s.Kind, s.Name, s.Line, s.Column))
			}
			if len(names) > 0 {
				out[docs.Path(i)] = strings.Join(names, ", ")
			}
		}
	}
	return out
}

func TestSymbols(t *testing.T) {
	r := newRepo(t)
	r.write(map[string]string{
		"kiln.go":   "package kiln\n\nfunc Fire() {}\n",
		"kiln.c":    "/* é */ int fire(int fired)\n{\n\treturn 1;\n}\n",
		"notes.txt": "fire\n", "bin.c": "\x00\x01", "big.c": strings.Repeat("int a;\n", 1000),
	})
	if err := os.Symlink("kiln.go", filepath.Join(r.dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	r.commit()
	f := newFixture(t, ingest.Options{Ctags: universal(t), MaxSymbolBytes: 4096})
	f.sync("r", r)
	res, err := f.ix.Symbols.Read(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Shards != 1 || res.Documents != 2 || res.Symbols != 3 || res.FailedCount != 1 ||
		!slices.Equal(res.Failed, []string{"r/big.c: text too large for symbols"}) || !maps.Equal(res.Unknown, map[string]int{"Text": 1}) {
		t.Errorf("got %+v; want 1 shard, 2 documents with 3 symbols, big.c failed and a text unknown", res)
	}
	want := map[string]string{"kiln.go": "package kiln:1:8, func Fire:3:5", "kiln.c": "function fire:1:12"}
	if got := f.symbols("r"); !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if res, err := f.ix.Symbols.Read(context.Background(), nil); err != nil || res.Shards != 0 {
		t.Errorf("again: got %d shards, %v; want nothing to do", res.Shards, err)
	}
	// What changes gets its own, and so does what is merged.
	for i := range 4 {
		r.write(map[string]string{fmt.Sprintf("m%d.go", i): "package kiln\n"})
		r.commit()
		f.sync("r", r)
		want[fmt.Sprintf("m%d.go", i)] = "package kiln:1:8"
	}
	if n, err := f.ix.Merger.Merge(context.Background(), nil); n == 0 || err != nil {
		t.Fatalf("Merge: %d shards, %v; want some", n, err)
	}
	if _, err := f.ix.Symbols.Read(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if got := f.symbols("r"); !maps.Equal(got, want) {
		t.Errorf("after the merge: got %q, want %q", got, want)
	}
}

func TestSymbolsWithoutCtags(t *testing.T) {
	f := newFixture(t, ingest.Options{})
	if _, err := f.ix.Symbols.Read(context.Background(), nil); !errors.Is(err, ingest.ErrNoCtags) {
		t.Errorf("got %v, want ErrNoCtags", err)
	}
}

// A pass that ends in the middle keeps the shards that are done, and the next
// one goes on.
func TestSymbolsGoOn(t *testing.T) {
	r := newRepo(t)
	files, want := map[string]string{}, map[string]string{}
	for i := range 600 {
		name := fmt.Sprintf("f%03d.py", i)
		files[name] = fmt.Sprintf("def fire%d(): pass\n", i)
		want[name] = fmt.Sprintf("function fire%d:1:4", i)
	}
	r.write(files)
	r.commit()
	dir := filepath.Join(t.TempDir(), "data")
	options := ingest.Options{Ctags: universal(t), ShardBlocks: 200, MinFreeBytes: -1}
	for _, stopAt := range []int{256, 512, 0} {
		st, err := store.Open(dir, store.Options{CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t, st, ingest.New(st, options)}
		f.sync("r", r)
		ctx, cancel := context.WithCancel(context.Background())
		_, err = f.ix.Symbols.Read(ctx, func(p ingest.Progress) {
			if p.Phase == "symbols" && p.Done == stopAt%300 {
				cancel()
			}
		})
		cancel()
		if stopAt > 0 && !errors.Is(err, context.Canceled) && err != nil || stopAt == 0 && err != nil {
			t.Errorf("stopped at %d: %v", stopAt, err)
		}
		if stopAt == 0 {
			if got := f.symbols("r"); !maps.Equal(got, want) {
				t.Errorf("got %d documents with symbols, want %d", len(got), len(want))
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "index", "*-symbols")); len(left) > 0 {
			t.Errorf("files are left: %q", left)
		}
	}
}

// A shard that is dropped while its symbols are read keeps none.
func TestSymbolsOfADroppedShard(t *testing.T) {
	r := newRepo(t)
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("f%d.py", i)] = "def fire(): pass\n"
	}
	r.write(files)
	r.commit()
	f := newFixture(t, ingest.Options{Ctags: universal(t)})
	f.sync("r", r)
	removed := false
	res, err := f.ix.Symbols.Read(context.Background(), func(ingest.Progress) {
		if !removed {
			removed = true
			if err := f.ix.Remove(context.Background(), "r"); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || !removed || res.Shards != 0 {
		t.Errorf("got %d shards, %v; want none and no error", res.Shards, err)
	}
}

// A document on which ctags hangs costs its budget and nothing else.
func TestSymbolsOfASlowDocument(t *testing.T) {
	needs.Program(t, "sleep")
	path := filepath.Join(t.TempDir(), "ctags")
	script := `#!/bin/sh
case "$*" in
*list-features*) printf 'json\ninteractive\n'; exit;;
*list-maps*) echo 'C *.c'; exit;;
esac
echo '{"_type": "program"}'
while read line; do
case "$line" in *slow.c*) exec sleep 1000;; esac
case "$line" in {*) echo '{"_type": "tag", "name": "int", "line": 1}'; echo '{"_type": "completed"}';; esac
done
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := ctags.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r := newRepo(t)
	r.write(map[string]string{"a.c": "int a;\n", "slow.c": "int b;\n", "z.c": "int c;\n"})
	r.commit()
	var f *fixture
	var res ingest.SymbolsResult
	for budget := time.Second; ; budget *= 10 { // a machine that stands still may take more
		f = newFixture(t, ingest.Options{Ctags: program, SymbolWorkers: 1, SymbolBudget: budget})
		f.sync("r", r)
		if res, err = f.ix.Symbols.Read(context.Background(), nil); len(res.Failed) < 2 || budget > time.Second {
			break
		}
	}
	if err != nil || res.Documents != 2 || !slices.Equal(res.Failed, []string{"r/slow.c: ctags took too long"}) {
		t.Errorf("got %+v, %v; want 2 documents and slow.c failed", res, err)
	}
	if got, want := f.symbols("r"), map[string]string{"a.c": " int:1:0", "z.c": " int:1:0"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSymbolsCrash: the power fails anywhere while symbols are written. The
// text is there, marks hold what they promise, and the next pass does the rest.
func TestSymbolsCrash(t *testing.T) {
	r := newRepo(t)
	files, want := map[string]string{}, map[string]string{}
	for i := range 12 {
		name := fmt.Sprintf("f%02d.py", i)
		files[name] = fmt.Sprintf("def fire%d(): pass\n", i)
		want[name] = fmt.Sprintf("function fire%d:1:4", i)
	}
	r.write(files)
	r.commit()
	options := ingest.Options{Ctags: universal(t), ShardBlocks: 4, MinFreeBytes: -1}
	c := &crasher{mem: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(1, 9)), now: crash{acknowledged: map[string]map[string]string{}}}
	st, err := store.Open("data", store.Options{FS: errorfs.Wrap(c.mem, c), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t, st, ingest.New(st, options)}
	f.sync("r", r)
	c.take(0)
	if _, err := f.ix.Symbols.Read(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	crashes := c.take(30)
	if len(crashes) < 5 {
		t.Fatalf("%d crashes, want some", len(crashes))
	}
	for _, crash := range crashes {
		st, err := store.Open("data", store.Options{FS: crash.fs, CacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{t, st, ingest.New(st, options)}
		f.want("r", files)
		sn := st.Snapshot()
		for _, v := range sn.Shards() {
			if v.HasSymbols() && v.Header.Symbols.Symbols != v.Header.Documents {
				t.Errorf("shard %d is marked with %d symbols in %d documents", v.ID, v.Header.Symbols.Symbols, v.Header.Documents)
			}
			if _, err := v.Documents(); err != nil {
				t.Fatal(err)
			}
			for i := range v.Header.Documents {
				if got, err := v.Symbols(nil, uint16(i)); v.HasSymbols() && (err != nil || len(got) != 1) {
					t.Errorf("shard %d is marked, but document %d has %v, %v", v.ID, i, got, err)
				}
			}
		}
		sn.Close()
		if _, err := f.ix.Symbols.Read(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if got := f.symbols("r"); !maps.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}
