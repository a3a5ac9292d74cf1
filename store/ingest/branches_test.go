package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// index sets which branches of a repository are indexed.
func (f *fixture) index(name string, globs ...string) {
	f.t.Helper()
	if _, err := f.st.Repositories().ChangeFacts(name, store.FactsChange{Branches: &globs}); err != nil {
		f.t.Fatal(err)
	}
}

// branchNames returns the indexed branches of a repository.
func (f *fixture) branchNames(name string) []string {
	f.t.Helper()
	sn := f.st.Snapshot()
	defer sn.Close()
	r, err := sn.Repository(name)
	if err != nil {
		f.t.Fatal(err)
	}
	var out []string
	for _, b := range r.Branches {
		out = append(out, b.Name)
	}
	return out
}

type files = map[string]string

func TestBranchesShareDocuments(t *testing.T) {
	r, f := newRepo(t), newFixture(t, ingest.Options{})
	r.write(files{"same.txt": "same\n", "changed.txt": "main\n", "main.txt": "main only\n"})
	r.commit()
	f.sync("r", r)
	r.git("checkout", "-qb", "release/1")
	r.write(files{"changed.txt": "one\n", "one.txt": "one only\n"})
	os.Remove(filepath.Join(r.dir, "main.txt"))
	r.commit()
	r.git("branch", "release/same", "main")
	r.git("branch", "other", "main")
	r.git("checkout", "-q", "main")

	// Nothing changes until globs are set, and then the next sync applies them.
	f.sync("r", r)
	f.index("r", "release/*", "nosuch")
	res := f.sync("r", r)
	if got := f.branchNames("r"); !slices.Equal(got, []string{"main", "release/1", "release/same"}) {
		t.Errorf("branches: got %q, want the default one first", got)
	}
	if res.Added != 2 || res.Unchanged != 3 || res.Removed != 0 {
		t.Errorf("got %d added, %d unchanged and %d removed, want the 2 that differ", res.Added, res.Unchanged, res.Removed)
	}
	main := files{"same.txt": "same\n", "changed.txt": "main\n", "main.txt": "main only\n"}
	f.wantBranch("r", 0, main)
	f.wantBranch("r", 1, files{"same.txt": "same\n", "changed.txt": "one\n", "one.txt": "one only\n"})
	f.wantBranch("r", 2, main)

	// A branch that goes takes only its own documents with it.
	r.git("branch", "-qD", "release/1")
	if res := f.sync("r", r); res.Added != 0 || res.Removed != 2 {
		t.Errorf("after a branch went: got %d added and %d removed, want its own 2", res.Added, res.Removed)
	}
	f.wantBranch("r", 0, main)
	f.wantBranch("r", 1, main)
	f.index("r")
	f.sync("r", r)
	if got := f.branchNames("r"); !slices.Equal(got, []string{"main"}) {
		t.Errorf("branches: got %q without globs, want main", got)
	}
	f.want("r", main)
	if err := f.ix.Remove(context.Background(), "r"); err != nil {
		t.Fatal(err)
	}
}

// More branches than there is room for are counted, and the first are taken.
func TestTooManyBranches(t *testing.T) {
	r, f := newRepo(t), newFixture(t, ingest.Options{})
	r.write(files{"a.txt": "a\n"})
	r.commit()
	for i := range 70 {
		r.git("branch", fmt.Sprintf("b%02d", i))
	}
	r.write(files{"a.txt": "b\n"})
	r.commit()
	f.sync("r", r)
	f.index("r", "*")
	res := f.sync("r", r)
	names := f.branchNames("r")
	if len(names) != store.MaxBranches || names[0] != "main" || names[63] != "b62" || res.Repository.BranchesLeftOut != 7 {
		t.Errorf("got %d branches, %q and %q at the ends, %d left out, want 64, main, b62 and 7",
			len(names), names[0], names[len(names)-1], res.Repository.BranchesLeftOut)
	}
	f.wantBranch("r", 0, files{"a.txt": "b\n"})
	f.wantBranch("r", 63, files{"a.txt": "a\n"})
	if res := f.sync("r", r); res.Added+res.Removed != 0 || res.Unchanged != 2 {
		t.Errorf("the sync behind it: got %+v, want nothing to do", res)
	}
}

func TestBranchGlobsAreChecked(t *testing.T) {
	r, f := newRepo(t), newFixture(t, ingest.Options{})
	r.commit()
	f.sync("r", r)
	for _, glob := range []string{"", "a[", "\xff"} {
		if _, err := f.st.Repositories().ChangeFacts("r", store.FactsChange{Branches: &[]string{glob}}); err == nil {
			t.Errorf("branches %q: got no error", glob)
		}
	}
}

// TestBranchesThroughMerges: random changes on branches that come and go, in
// shards that are merged, reopened and shared, and each branch holds what was
// committed to it.
func TestBranchesThroughMerges(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 21))
		dir := filepath.Join(t.TempDir(), "data")
		options := ingest.Options{ShardBlocks: 30}
		open := func() *fixture {
			st, err := store.Open(dir, store.Options{CacheBytes: 8 << 20})
			if err != nil {
				t.Fatal(err)
			}
			return &fixture{t, st, ingest.New(st, options)}
		}
		f := open()
		names := []string{"a", "b"}
		repos := map[string]*repo{}
		state := map[string]map[string]files{} // by repository and branch
		for _, name := range names {
			repos[name] = newRepo(t)
			repos[name].commit()
			state[name] = map[string]files{"main": {}}
			f.sync(name, repos[name])
			f.index(name, "w*")
		}
		for step := range 16 {
			name := names[rng.IntN(2)]
			r, branches := repos[name], state[name]
			switch branch := fmt.Sprint("w", rng.IntN(3)); {
			case rng.IntN(4) == 0 && branches[branch] != nil:
				r.git("checkout", "-q", "main")
				r.git("branch", "-qD", branch)
				delete(branches, branch)
			case rng.IntN(3) > 0:
				if branches[branch] == nil {
					r.git("checkout", "-q", "main")
					r.git("branch", branch)
					branches[branch] = maps.Clone(branches["main"])
				}
				r.git("checkout", "-q", branch)
				change(rng, r, branches[branch])
			default:
				r.git("checkout", "-q", "main")
				change(rng, r, branches["main"])
			}
			r.git("checkout", "-q", "main")
			f.sync(name, r)
			if step%3 == 1 {
				if _, err := f.ix.Merger.Merge(context.Background(), nil); err != nil {
					t.Fatal(err)
				}
			}
			if step%5 == 4 {
				if err := f.st.Close(); err != nil {
					t.Fatal(err)
				}
				f = open()
			}
			for _, name := range names {
				for n, branch := range f.branchNames(name) {
					f.wantBranch(name, n, state[name][branch])
				}
				if got, want := len(f.branchNames(name)), len(state[name]); got != want {
					t.Errorf("%s has %d branches, want %d", name, got, want)
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
		// Removed, a repository leaves nothing of itself in shards it shared.
		if err := f.ix.Remove(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
		sn := f.st.Snapshot()
		r, err := sn.Repository("b")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range sn.Shards() {
			if of := v.Away(r.ID - 1); of != nil {
				t.Errorf("shard %d still has the branches of the repository that was removed: %v", v.ID, of)
			}
		}
		sn.Close()
		if err := f.st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A branch that cannot be read is left out, which is said; the others go on, and
// it comes back when it can be.
func TestUnreadableBranch(t *testing.T) {
	r, f := newRepo(t), newFixture(t, ingest.Options{})
	r.write(files{"a.txt": "main\n"})
	r.commit()
	for _, name := range []string{"w1", "w2"} {
		r.git("checkout", "-qb", name, "main")
		r.write(files{name + ".txt": name + "\n"})
		r.commit()
	}
	r.git("checkout", "-q", "main")
	f.sync("r", r)
	f.index("r", "w*")
	hide := func(rev string) (back func()) {
		object := strings.TrimSpace(r.git("rev-parse", rev))
		path := filepath.Join(r.dir, ".git", "objects", object[:2], object[2:])
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, what := range []string{"w1", "w1^{tree}"} {
		back := hide(what)
		r.write(files{"a.txt": "main without " + what + "\n"})
		r.commit()
		res := f.sync("r", r)
		if got := f.branchNames("r"); !slices.Equal(got, []string{"main", "w2"}) {
			t.Errorf("without %s: branches %q, want main and w2", what, got)
		}
		if why := res.Repository.LastError; !strings.Contains(why, "branch w1 is left out") {
			t.Errorf("without %s: the error is %q, want that w1 is left out", what, why)
		}
		f.wantBranch("r", 0, files{"a.txt": "main without " + what + "\n"})
		f.wantBranch("r", 1, files{"a.txt": "main\n", "w2.txt": "w2\n"})
		back()
		if res := f.sync("r", r); res.Repository.LastError != "" {
			t.Errorf("with %s again: the error is %q, want none", what, res.Repository.LastError)
		}
		f.wantBranch("r", 1, files{"a.txt": "main\n", "w1.txt": "w1\n"})
	}
}
