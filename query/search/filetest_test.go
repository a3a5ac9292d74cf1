package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
)

// testedCorpus has repositories r0 to r9, each with files in several shards; of
// those only r3 and r7 have the file that is asked for, and r7's is dead.
func testedCorpus(t testing.TB, fs vfs.FS) *corpus { return testedCorpusOf(t, fs, 10) }

// testedCorpusOf has as many files in some more repositories.
func testedCorpusOf(t testing.TB, fs vfs.FS, repositories int) *corpus {
	// Random text, so that a shard is more than one block of the engine's.
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 900 {
		fmt.Fprintf(&b, "clay and more clay %016x\n", rng.Uint64())
	}
	filler := b.String()
	var files []doc
	for i := range max(60, repositories) {
		f := doc{repo: fmt.Sprintf("r%d", i%repositories), path: fmt.Sprintf("f%d.txt", i), text: filler}
		switch i {
		case 33, 37:
			f.path, f.text, f.dead = "kiln.go", filler+"glaze\n", i == 37
		}
		files = append(files, f)
	}
	return newCorpusOn(t, fs, 2*postings.BlockCount(len(filler)+6), nil, files)
}

// repositories returns the names of the repositories that were found.
func (a answered) repositories() string {
	var out []string
	for _, m := range a.matches {
		out = append(out, m.In().Name)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

func TestRepositoriesByFiles(t *testing.T) {
	c := testedCorpus(t, vfs.NewMem())
	defer c.close(t)
	if _, err := c.st.Repositories().New(store.Repository{Name: "unindexed"}); err != nil {
		t.Fatal(err)
	}
	const others = "r0 r1 r2 r4 r5 r6 r7 r8 r9"
	for _, tt := range []struct{ query, want string }{
		// Live documents count, in whatever shard they are.
		{`repo:has.path(\.go$)`, "r3"},
		{`repo:has.content(glaze)`, "r3"},
		{`repo:has.content(clay)`, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9"},
		{`repo:has.file(path:kiln content:glaze)`, "r3"},
		{`repo:has.file(path:txt content:glaze)`, ""},
		{`repo:has.path(kiln) file:f.*txt more`, "r3"},
		// A repository that was never indexed passes no test, and no negated one.
		{`-repo:has.path(\.go$)`, others},
		{`-repohasfile:\.go$`, others},
		{`-repo:has.content(clay)`, ""},
		{`repo:unindexed`, "unindexed"},
		// All tests hold; the same one may stand in several parts of a query.
		{`repo:has.path(kiln) -repo:has.content(glaze)`, ""},
		{`(repo:r3 repo:has.path(kiln)) or (repo:r4 -repo:has.path(kiln)) or (repo:r7 repo:has.path(kiln))`, "r3 r4"},
	} {
		for _, s := range []search.Settings{{Workers: 1}, {Workers: 4}, {Brute: true}} {
			if got := c.search(t, s, search.Options{}, tt.query, query.Keyword).repositories(); got != tt.want {
				t.Errorf("%s with %+v: got %q, want %q", tt.query, s, got, tt.want)
			}
		}
	}
}

// Of many repositories each is tested at its default branch, also where another branch was
// asked about.
func TestManyRepositoriesByFiles(t *testing.T) {
	var files []doc
	for i := range 100 {
		files = append(files, doc{repo: fmt.Sprintf("r%02d", i), path: "a.txt", text: "clay\n"})
	}
	files = append(files, doc{repo: "r05", path: "b.txt", text: "glaze\n"})
	c := newCorpus(t, 1000, nil, files)
	r := c.repos["r05"]
	r.Branches = append(r.Branches, store.Branch{Name: "old", Commit: strings.Repeat("b", 40)})
	away := store.ShardRepository{Shard: r.Shards[0], Repository: r.ID}
	last := postings.NewSet(uint16(len(files) - 1)) // only in old
	if err := c.st.Commit(store.Change{Repositories: []*store.Repository{r}, Away: map[store.ShardRepository][]*postings.Set{away: {last, {}}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := c.st.Repositories().New(store.Repository{Name: fmt.Sprintf("r%d-unindexed", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]int{
		`repo:has.content(clay) type:repo r`:                                                100,
		`-repo:has.content(glaze) type:repo r`:                                              100,
		`-repo:has.content(glaze) -repo:has.path(c) type:repo r`:                            100,
		`repo:has.content(glaze) clay`:                                                      0,
		`repo:r05 rev:old repo:has.content(glaze) clay`:                                     1,
		`repo:r05 rev:main:old repo:has.content(glaze) clay`:                                1,
		`repo:r05 rev:main:old -repo:has.content(glaze) clay`:                               1,
		`(repo:r05 rev:old repo:has.content(glaze) clay) or (repo:has.content(glaze) clay)`: 1,
		`(repo:has.content(glaze) clay) or (repo:r05 rev:old repo:has.content(glaze) clay)`: 1,
	} {
		for _, s := range []search.Settings{{Workers: 1}, {Workers: 4}, {Brute: true}} {
			if got := len(c.search(t, s, search.Options{}, text, query.Keyword).matches); got != want {
				t.Errorf("%s with %+v: %d matches, want %d", text, s, got, want)
			}
		}
	}
}

// What a test has decided already is not read again: of r3's documents those
// behind the one that passes are left alone.
func TestFileTestStopsEarly(t *testing.T) {
	c := testedCorpus(t, vfs.NewMem())
	defer c.close(t)
	trace := &report.Trace{}
	c.search(t, search.Settings{Workers: 1}, search.Options{Trace: trace}, `repo:has.content(clay) type:repo`, query.Keyword)
	for _, step := range trace.Steps() {
		for _, f := range step.Fields {
			if step.Name == "test repositories for files" && f.Key == "documents" && f.Value != "10" {
				t.Errorf("looked at %s documents, want the first of each of 10 repositories", f.Value)
			}
		}
	}
}

func TestFileTestsTimeOut(t *testing.T) {
	c := testedCorpus(t, vfs.NewMem())
	defer c.close(t)
	a := c.try(t.Context(), t, search.Settings{}, search.Options{Display: -1}, `repo:has.content(clay) timeout:1ns`, nil)
	if len(a.matches) > 0 || !strings.Contains(a.reasons(), "shard-timeout") {
		t.Errorf("got %d matches and reasons %q, want none and shard-timeout", len(a.matches), a.reasons())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := c.try(ctx, t, search.Settings{}, search.Options{Display: -1}, `repo:has.content(clay)`, nil); a.outcome.Err != nil || len(a.matches) > 0 {
		t.Errorf("with a client that is gone: got %v and %d matches", a.outcome.Err, len(a.matches))
	}
}

// What cannot be read neither passes a test nor its negation, and is reported, of few
// repositories and of many.
func TestFileTestsOnDamage(t *testing.T) {
	for _, repositories := range []int{10, 100} {
		fs := &faultyFS{FS: vfs.NewMem()}
		testedCorpusOf(t, fs, repositories).close(t)
		c := &corpus{}
		c.open(t, fs)
		fault := func([]byte) error { return errors.New("unreadable sector") }
		fs.fault.Store(&fault)
		a := c.try(t.Context(), t, search.Settings{}, search.Options{Display: -1}, `-repo:has.content(glaze)`, nil)
		if len(a.matches) > 0 || !strings.Contains(a.reasons(), "backend-missing") {
			t.Errorf("got %q and reasons %q, want no repository and backend-missing", a.repositories(), a.reasons())
		}
		fs.fault.Store(nil)
		c.close(t)
	}
}

// A repository passes for a file that can be read, also when a part of it before cannot.
func TestFileTestBehindDamage(t *testing.T) {
	for _, repositories := range []int{10, 100} {
		fs := &faultyFS{FS: vfs.NewMem()}
		testedCorpusOf(t, fs, repositories).close(t)
		want := []string{"r3", "r33"}[repositories/100]
		// The engine reads by itself too, so the first faults may not be those of the search.
		for faults, failed := int32(2), false; !failed; faults += 2 {
			c := &corpus{}
			c.open(t, fs)
			var left atomic.Int32
			left.Store(faults)
			fault := func([]byte) error {
				if left.Add(-1) >= 0 {
					return errors.New("unreadable sector")
				}
				return nil
			}
			fs.fault.Store(&fault)
			a := c.try(t.Context(), t, search.Settings{Workers: 1}, search.Options{Display: -1}, `repo:has.content(glaze) type:repo`, nil)
			fs.fault.Store(nil)
			failed = strings.Contains(a.reasons(), "backend-missing")
			if a.repositories() != want || faults > 100 {
				t.Fatalf("of %d, with %d faults: got %q and reasons %q, want %s, and backend-missing before long", repositories, faults, a.repositories(), a.reasons(), want)
			}
			c.close(t)
		}
	}
}

// BenchmarkFileTest asks many repositories for a rare file.
func BenchmarkFileTest(b *testing.B) {
	c := testedCorpus(b, vfs.NewMem())
	defer c.close(b)
	b.ReportAllocs()
	for b.Loop() {
		c.search(b, search.Settings{}, search.Options{}, `repo:has.content(glaze)`, query.Keyword)
	}
}
