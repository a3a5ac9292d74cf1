package search_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// tree is the files of a commit.
type tree = map[string]string

const binaryText = "\x00\x01\x02\xff"

// gitRepo is a repository of random history: what it holds at each revision
// that may be typed.
type gitRepo struct {
	name, dir string
	revs      map[string]tree
	// refs are the full names of those that globs find, with how they are shown.
	refs map[string]string
}

func randomText(rng *rand.Rand) string {
	n := []int{0, 5, 60, 400, 4200, 9000}[rng.IntN(6)]
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(vocabulary[rng.IntN(len(vocabulary))])
		b.WriteString([]string{"", " ", " ", "\n", "\r\n", "\t"}[rng.IntN(6)])
	}
	if rng.IntN(12) == 0 {
		return binaryText
	}
	return b.String()
}

func randomPath(rng *rand.Rand) string {
	return fmt.Sprintf("%s/%s%d%s", []string{"src", "Foo", "test/ſ"}[rng.IntN(3)], []string{"foo", "bar", "k", "main"}[rng.IntN(4)], rng.IntN(6),
		[]string{".go", ".c", ".md", ""}[rng.IntN(4)])
}

// changed is t with some files changed, added, removed and copied.
func changed(rng *rand.Rand, t tree) tree {
	out := maps.Clone(t)
	for range 1 + rng.IntN(5) {
		paths := slices.Sorted(maps.Keys(out))
		switch p := randomPath(rng); {
		case len(paths) > 3 && rng.IntN(4) == 0:
			delete(out, paths[rng.IntN(len(paths))])
		case len(paths) > 0 && rng.IntN(4) == 0:
			out[p] = out[paths[rng.IntN(len(paths))]]
		default:
			out[p] = randomText(rng)
		}
	}
	return out
}

// randomRepo has a default branch of two commits, branches w1 and w2, tags of
// old commits, and a merge.
func randomRepo(t testing.TB, rng *rand.Rand, name string) *gitRepo {
	g := &gitHistory{}
	r := &gitRepo{name: name, revs: map[string]tree{}, refs: map[string]string{}}
	add := func(files tree, mark string, refs ...string) {
		for _, ref := range refs {
			g.ref(ref, mark)
			shown := strings.TrimPrefix(ref, "refs/heads/")
			r.refs[ref] = shown
			for _, typed := range []string{ref, shown, strings.TrimPrefix(ref, "refs/tags/")} {
				r.revs[typed] = files
			}
		}
	}
	base := changed(rng, changed(rng, changed(rng, tree{})))
	one := g.commit(base, nil)
	add(base, one, "refs/tags/v1")
	w1 := changed(rng, base)
	two := g.commit(w1, []string{one})
	add(w1, two, "refs/heads/w1")
	old := changed(rng, base)
	three := g.commit(old, []string{one})
	add(old, three, "refs/tags/v2", "refs/heads/w2")
	main := changed(rng, old)
	four := g.commit(main, []string{three, two})
	add(main, four, "refs/heads/main")
	r.dir = g.write(t)
	for ref := range maps.Clone(r.refs) {
		commit := runGit(t, r.dir, "", "rev-parse", ref)
		r.revs[commit], r.revs[commit[:8]] = r.revs[ref], r.revs[ref]
	}
	r.revs[""], r.revs["HEAD"], r.revs["main~1"], r.revs["main^2"] = main, main, old, w1
	return r
}

// revisionCorpus indexes repositories with the branches that globs choose. The
// files of the corpus are to be filled in for each query.
func revisionCorpus(t testing.TB, repos []*gitRepo, globs ...string) *corpus {
	t.Helper()
	c := &corpus{repos: map[string]*store.Repository{}}
	c.open(t, vfs.NewMem())
	t.Cleanup(func() { c.close(t) })
	ix := ingest.New(c.st, ingest.Options{MinFreeBytes: -1, ShardBlocks: 40})
	for _, r := range repos {
		if _, err := ix.Add(context.Background(), ingest.Source{Name: r.name, Location: r.dir}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.st.Repositories().ChangeFacts(r.name, store.FactsChange{Branches: &globs}); err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Sync(context.Background(), r.name, nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// movedCorpus indexes repositories whose default branch moves between two
// syncs, so that some documents are dead, and merges if asked to.
func movedCorpus(t testing.TB, repos []*gitRepo, merge bool) *corpus {
	t.Helper()
	mains := map[string]string{}
	for _, r := range repos {
		mains[r.name] = runGit(t, r.dir, "", "rev-parse", "main")
		runGit(t, r.dir, "", "update-ref", "refs/heads/main", "w1")
	}
	c := revisionCorpus(t, repos, "w2")
	ix := ingest.New(c.st, ingest.Options{MinFreeBytes: -1, ShardBlocks: 40})
	for _, r := range repos {
		runGit(t, r.dir, "", "update-ref", "refs/heads/main", mains[r.name])
		if _, err := ix.Sync(context.Background(), r.name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if merge {
		if _, err := ix.Merger.Merge(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// typedRevs are what a list of revisions searches of r, by how it is shown.
func (r *gitRepo) typedRevs(list []string) map[string]tree {
	out := map[string]tree{}
	for _, typed := range list {
		glob, isGlob := strings.CutPrefix(typed, "*refs/")
		if !isGlob {
			if files, ok := r.revs[typed]; ok {
				out[typed] = files
			}
			continue
		}
		for ref, shown := range r.refs {
			if strings.HasPrefix(ref, "refs/"+strings.TrimSuffix(glob, "*")) {
				out[shown] = r.revs[ref]
			}
		}
	}
	return out
}

// expected fills in the files that a query over a list of revisions sees.
func (c *corpus) expected(repos []*gitRepo, list []string) {
	c.files = nil
	for _, r := range repos {
		for rev, files := range r.typedRevs(list) {
			for path, text := range files {
				d := doc{repo: r.name, rev: rev, path: path, text: text}
				if text == binaryText {
					d.text, d.reason = "", shard.ReasonBinary
				}
				c.files = append(c.files, d)
			}
		}
	}
}

// TestRevisionsOracle: random queries at random revisions, indexed and not,
// give what the files of those commits give, what the full scan gives, and the
// same whatever branches are indexed. TRAWL_SEED repeats one corpus.
func TestRevisionsOracle(t *testing.T) {
	seeds, first, perCorpus := uint64(3), uint64(1), 25
	switch n, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); {
	case err == nil:
		seeds, first = 1, n
	case race.Enabled || testing.Short():
		seeds, perCorpus = 2, 10
	}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 23))
			repos := []*gitRepo{randomRepo(t, rng, "example.org/one"), randomRepo(t, rng, "example.org/two")}
			corpora := []*corpus{
				revisionCorpus(t, repos), revisionCorpus(t, repos, "w1"), revisionCorpus(t, repos, "*"), movedCorpus(t, repos, seed%2 == 0),
			}
			// As of one server, what they keep of revisions is used again.
			var searchers [4][4]*search.Searcher
			for n, c := range corpora {
				for i := range 3 {
					searchers[n][i] = search.New(c.st, search.Settings{Workers: 1 + i})
				}
				searchers[n][3] = search.New(c.st, search.Settings{Brute: true})
			}
			commits := slices.DeleteFunc(slices.Sorted(maps.Keys(repos[0].revs)), func(rev string) bool { return len(rev) < 40 })
			choices := []string{"main", "HEAD", "w1", "w2", "v1", "v2", "refs/tags/v1", "refs/heads/w2", "main~1", "main^2", "nosuch",
				"*refs/heads/*", "*refs/tags/*", "*refs/heads/w*", commits[0], commits[len(commits)-1][:8]}
			for range perCorpus {
				var list []string
				for range 1 + rng.IntN(3) {
					list = append(list, choices[rng.IntN(len(choices))])
				}
				text := "repo:example@" + strings.Join(list, ":") + " " + randomQuery(rng) + " count:all"
				if rng.IntN(4) == 0 {
					text += " index:no"
				}
				q, err := syntax.Parse(text, query.Keyword)
				if err != nil {
					t.Fatalf("parse %q: %v", text, err)
				}
				repeat := fmt.Sprintf("repeat: TRAWL_SEED=%d go test ./query/search -run TestRevisionsOracle", seed)
				o := search.Options{ContextLines: rng.IntN(3)}
				var all []string
				for n, c := range corpora {
					got := ask(t, searchers[n][rng.IntN(3)], o, text, query.Keyword)
					brute := ask(t, searchers[n][3], o, text, query.Keyword)
					if g, w := got.full(), brute.full(); !slices.Equal(g, w) {
						t.Fatalf("query %q: index and scan differ\n%s\n%s", text, firstDifference(g, w), repeat)
					}
					c.expected(repos, list)
					if g, w := stripPaths(got.lines()), c.naive(q); !slices.Equal(g, w) {
						t.Fatalf("query %q of corpus %d: got and want differ\n%s\n%s", text, n, firstDifference(g, w), repeat)
					}
					g := got.full()
					slices.Sort(g)
					if n == 0 {
						all = g
					} else if !slices.Equal(g, all) {
						t.Fatalf("query %q: what is indexed changes the answer\n%s\n%s", text, firstDifference(g, all), repeat)
					}
				}
			}
		})
	}
}
