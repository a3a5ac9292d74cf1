package search_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// metaOp is one thing that happens: to a repository, to a store, or a check that
// all stores answer alike. It draws what else it needs from its seed, so that
// leaving out others does not change it.
type metaOp struct {
	kind        string
	repo, store int
	seed        uint64
}

func (o metaOp) String() string {
	return fmt.Sprintf("%s repo %d store %d seed %d", o.kind, o.repo, o.store, o.seed)
}

// metaKinds are the kinds of operations, as often as they are drawn.
var metaKinds = []string{"change", "change", "change", "rename", "empty", "branch", "sync", "sync", "sync", "merge", "merge", "age", "rebuild", "rebuild",
	"symbols", "history", "reindex", "restart", "crash", "restore", "move", "readers", "remove", "check"}

func randomOps(rng *rand.Rand, n int) []metaOp {
	var ops []metaOp
	for range n {
		ops = append(ops, metaOp{metaKinds[rng.IntN(len(metaKinds))], rng.IntN(3), rng.IntN(3), rng.Uint64N(1 << 20)})
	}
	return append(ops, metaOp{kind: "check", seed: rng.Uint64N(1 << 20)})
}

// TestMetamorphic: whatever is done to stores that index the same repositories,
// in shards of other sizes, with other caches and workers, merged, rewritten,
// restarted, crashed, restored from a checkpoint, moved to a cluster and back, read again in full or not, they answer alike, and
// as the definition and a full scan do; and what is asked in other words, or for
// less of it, is what has to follow. TRAWL_SEED repeats one sequence of
// operations, TRAWL_OPS sets how long they are, TRAWL_CASES how many: one for
// ten thousand queries of TestOracle, but longer.
func TestMetamorphic(t *testing.T) {
	first, cases, length := uint64(1), 4, 14
	if n, err := strconv.Atoi(os.Getenv("TRAWL_CASES")); err == nil {
		cases, length = max(n/10_000, 1), 40
	}
	if race.Enabled {
		cases, length = 1, 10
	}
	if n, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); err == nil {
		first, cases = n, 1
	}
	if n, err := strconv.Atoi(os.Getenv("TRAWL_OPS")); err == nil {
		length = n
	}
	for seed := first; seed < first+uint64(cases); seed++ {
		ops := randomOps(rand.New(rand.NewPCG(seed, 23)), length)
		why := runOps(t, ops)
		if why == "" {
			continue
		}
		ops, why = shrink(t, ops, why)
		var list strings.Builder
		for _, o := range ops {
			fmt.Fprintf(&list, "\n  %s", o)
		}
		t.Fatalf("%s\nof %d operations these are enough:%s\nrepeat: TRAWL_SEED=%d TRAWL_OPS=%d go test ./query/search -run TestMetamorphic",
			why, length, list.String(), seed, length)
	}
}

// shrink leaves out operations as long as there is a failure.
func shrink(t *testing.T, ops []metaOp, why string) ([]metaOp, string) {
	for size := len(ops) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(ops); {
			fewer := slices.Delete(slices.Clone(ops), at, at+size)
			if w := runOps(t, fewer); w != "" {
				ops, why = fewer, w
			} else {
				at += size
			}
		}
	}
	return ops, why
}

// probe is a test whose failure is a value.
type probe struct{ testing.TB }

type probeFailed string

func (p probe) Fatalf(format string, args ...any) { panic(probeFailed(fmt.Sprintf(format, args...))) }
func (p probe) Fatal(args ...any)                 { panic(probeFailed(fmt.Sprint(args...))) }
func (p probe) Errorf(format string, args ...any) { p.Fatalf(format, args...) }
func (p probe) Error(args ...any)                 { p.Fatal(args...) }

// runOps returns what went wrong, "" if nothing did.
func runOps(t *testing.T, ops []metaOp) (why string) {
	w := newMetaWorld(t)
	defer func() {
		if p := recover(); p != nil {
			failed, ok := p.(probeFailed)
			if !ok {
				panic(p)
			}
			why = string(failed)
			for _, s := range w.stores {
				_ = s.st.Close() // it may have been left in the middle of something
			}
		}
	}()
	for i, o := range ops {
		w.do(probe{t}, o, i)
	}
	w.close(probe{t})
	return ""
}

func (w *metaWorld) do(t testing.TB, o metaOp, n int) {
	rng := rand.New(rand.NewPCG(o.seed, 29))
	r, s := w.repos[o.repo], w.stores[o.store]
	must := func(err error) {
		if err != nil {
			t.Fatalf("operation %d, %s: %v", n, o, err)
		}
	}
	switch o.kind {
	case "change":
		r.main = defining(rng, r.main, changed(rng, r.main))
		r.commit(t, "main", r.main)
	case "rename":
		moved := tree{}
		for path, text := range r.main {
			if rng.IntN(2) == 0 {
				path = "moved/" + path
			}
			moved[path] = text
		}
		r.main = moved
		r.commit(t, "main", r.main)
	case "empty":
		r.main = tree{}
		r.commit(t, "main", r.main)
	case "branch":
		r.w = changed(rng, r.main)
		r.commit(t, "w", r.w)
	case "sync":
		s.sync(t, r, rng.IntN(30))
	case "merge":
		must(s.unchanged(t, rng, s.ix.Merger.Merge))
	case "age":
		s.age(t)
	case "rebuild":
		must(s.unchanged(t, rng, s.ix.Merger.Rebuild))
	case "symbols":
		s.missingSymbols(t)
	case "history":
		_, err := s.ix.Histories.Read(context.Background(), nil)
		must(err)
	case "reindex":
		s.sync(t, r, rng.IntN(30))
		_, err := s.st.Repositories().Reindex(r.name)
		must(err)
		must(s.unchanged(t, rng, func(ctx context.Context, report func(ingest.Progress)) (int, error) {
			res, err := s.ix.Sync(ctx, r.name, report)
			return res.Added, err
		}))
	case "restart":
		s.restart(t)
	case "crash":
		s.crash(t)
	case "restore":
		w.restore(t, s)
	case "move":
		w.move(t, s, rng)
	case "readers":
		if s.has(r.name) {
			readers := [](*store.Readers){nil, {}, {Users: []uint32{7}}}[rng.IntN(3)]
			must(s.st.Update(func(tx *store.Tx) error {
				_, err := tx.SetReaders(r.name, readers)
				return err
			}))
		}
	case "remove":
		if s.has(r.name) {
			must(s.ix.Remove(context.Background(), r.name))
		}
	case "check":
		for _, s := range w.stores {
			w.settle(t, s)
		}
		for range 8 {
			w.compare(t, rng)
		}
		w.compareSymbols(t, rng)
		w.compareCommits(t, rng)
	default:
		panic("there is no operation " + o.kind)
	}
}

// unchanged rewrites shards, and wants the same answer before, meanwhile and
// behind it.
func (s *metaStore) unchanged(t testing.TB, rng *rand.Rand, rewrite func(context.Context, func(ingest.Progress)) (int, error)) error {
	text := randomQuery(rng) + " count:all"
	ask := func() []string { return sorted(s.search(t, s.settings, search.Options{}, text, query.Keyword).lines()) }
	before := ask()
	check := func(when string) {
		if got := ask(); !slices.Equal(got, before) {
			t.Fatalf("%s: query %q answers otherwise %s\n%s", s.name, text, when, firstDifference(got, before))
		}
	}
	_, err := rewrite(context.Background(), func(ingest.Progress) { check("while shards are rewritten") })
	check("when they have been")
	return err
}

func (s *metaStore) has(name string) bool {
	sn := s.st.Snapshot()
	defer sn.Close()
	_, err := sn.Repository(name)
	return err == nil
}

// compare asks all stores the same and wants the same, and of one of them what
// follows from it.
func (w *metaWorld) compare(t testing.TB, rng *rand.Rand) {
	text, rev := randomQuery(rng)+" count:all", ""
	if rng.IntN(3) == 0 {
		text, rev = text+" repo:. rev:w", "w"
	}
	var all answered
	for i, s := range w.stores {
		got := s.search(t, s.settings, search.Options{}, text, query.Keyword)
		if i == 0 {
			all = got
			continue
		}
		g, want := sorted(got.full()), sorted(all.full())
		if !slices.Equal(g, want) {
			t.Fatalf("query %q: stores %q (got) and %q (want) differ\n%s", text, s.name, w.stores[0].name, firstDifference(g, want))
		}
	}
	s := w.stores[rng.IntN(len(w.stores))]
	brute := s.search(t, search.Settings{Brute: true}, search.Options{}, text, query.Keyword)
	if g, want := sorted(all.full()), sorted(brute.full()); !slices.Equal(g, want) {
		t.Fatalf("query %q: the index of %q (got) and a scan of %q (want) differ\n%s", text, w.stores[0].name, s.name, firstDifference(g, want))
	}
	q, err := syntax.Parse(text, query.Keyword)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	s.files = w.files(rev)
	if g, want := stripPaths(all.lines()), s.naive(q); !slices.Equal(g, want) {
		t.Fatalf("query %q: got and the definition differ\n%s", text, firstDifference(g, want))
	}
	s.related(t, rng, text)
	s.files = w.files("")
	s.union(t, rng)
}

// files are what a query of a revision sees, "" being the default branch.
func (w *metaWorld) files(rev string) []doc {
	var out []doc
	for _, r := range w.repos {
		of := r.main
		if rev == "w" {
			of = r.w
		}
		for path, text := range of {
			d := doc{repo: r.name, rev: rev, path: path, text: text}
			if text == binaryText {
				d.text, d.reason = "", shard.ReasonBinary
			}
			out = append(out, d)
		}
	}
	return out
}

// related asks for less of an answer: fewer shown is its beginning, fewer counted
// a part of it, and what a filter leaves is what the filter would take.
func (s *metaStore) related(t testing.TB, rng *rand.Rand, text string) {
	all := s.search(t, s.settings, search.Options{}, text, query.Keyword)
	units := all.units()
	if n := rng.IntN(len(units) + 2); n > 0 {
		shown := s.search(t, s.settings, search.Options{Display: n}, text, query.Keyword).units()
		if want := units[:min(n, len(units))]; !slices.Equal(shown, want) {
			t.Fatalf("%s: query %q with display %d is no beginning of the answer\n%s", s.name, text, n, firstDifference(shown, want))
		}
		counted := s.search(t, s.settings, search.Options{}, strings.Replace(text, "count:all", fmt.Sprint("count:", n), 1), query.Keyword).units()
		if len(counted) != min(n, len(units)) || !among(counted, units) {
			t.Fatalf("%s: query %q with count:%d: got %d results, all of the answer's %d: %t", s.name, text, n, len(counted), len(units), among(counted, units))
		}
	}
	filter := []string{"file:src", "-file:src", `file:\.go$`, `-file:\.md$`, "file:k", "-file:moved"}[rng.IntN(6)]
	flags := "(?i)"
	if strings.Contains(text, "case:yes") {
		flags = ""
	}
	expression, negated := strings.CutPrefix(filter, "-")
	re := regexp.MustCompile(flags + strings.TrimPrefix(expression, "file:"))
	var want []string
	for _, m := range all.matches {
		if f, ok := m.(*query.FileMatch); ok && re.MatchString(f.Path) != negated {
			want = append(want, stripPaths(answered{matches: []query.Match{m}}.lines())...)
		}
	}
	slices.Sort(want)
	got := stripPaths(s.search(t, s.settings, search.Options{}, text+" "+filter, query.Keyword).lines())
	if !slices.Equal(got, want) {
		t.Fatalf("%s: query %q with %s is not what the filter takes of the answer\n%s", s.name, text, filter, firstDifference(got, want))
	}
}

// union: what one of two terms finds is what either finds, and one without the
// other is the difference.
func (s *metaStore) union(t testing.TB, rng *rand.Rand) {
	a, b := strconv.Quote(vocabulary[rng.IntN(len(vocabulary))]), strconv.Quote(vocabulary[rng.IntN(len(vocabulary))])
	found := func(text string) map[string]bool {
		out := map[string]bool{}
		for _, m := range s.search(t, s.settings, search.Options{}, text+" type:file count:all", query.Keyword).matches {
			if f, ok := m.(*query.FileMatch); ok {
				out[f.Repo.Name+" "+f.Path] = true
			}
		}
		return out
	}
	inA, inB := found(a), found(b)
	either, without := found("("+a+" or "+b+")"), found("("+a+" and not "+b+")")
	for _, f := range s.files {
		name := f.repo + " " + f.path
		if either[name] != (inA[name] || inB[name]) || without[name] != (inA[name] && !inB[name]) {
			t.Fatalf("%s: %s holds %s: %t, %s: %t, one of them: %t, only the first: %t", s.name, name, a, inA[name], b, inB[name], either[name], without[name])
		}
	}
}

// symbolNames are what texts define.
var symbolNames = []string{"fire", "Fire", "fireKiln", "kiln", "Kiln", "x"}

// defining is the files of after with definitions in those that changed.
func defining(rng *rand.Rand, before, after tree) tree {
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if text := after[path]; text != before[path] && text != binaryText {
			after[path] = text + "\nfunc " + symbolNames[rng.IntN(len(symbolNames))] + "\n"
		}
	}
	return after
}

// compareSymbols: definitions are the same, read for a shard or copied from those
// it was made of.
func (w *metaWorld) compareSymbols(t testing.TB, rng *rand.Rand) {
	text := "type:symbol count:all " + []string{"", "case:yes "}[rng.IntN(2)] + symbolNames[rng.IntN(len(symbolNames))]
	var want []string
	for i, s := range w.stores {
		got := sorted(tellAll(s.search(t, s.settings, search.Options{}, text, query.Keyword).matches))
		if i == 0 {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("query %q: stores %q (got) and %q (want) differ\n%s", text, s.name, w.stores[0].name, firstDifference(got, want))
		}
	}
}

// compareCommits: messages and diffs are the same, kept in a store or read
// through git.
func (w *metaWorld) compareCommits(t testing.TB, rng *rand.Rand) {
	text := "type:diff count:all timeout:60s " + strconv.Quote(vocabulary[rng.IntN(len(vocabulary))])
	if rng.IntN(3) == 0 {
		text = "type:commit count:all timeout:60s x"
	}
	var want []string
	for i, s := range w.stores {
		_, got := commitLines(s.search(t, s.settings, search.Options{}, text, query.Keyword))
		slices.Sort(got)
		if i == 0 {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("query %q: stores %q (got) and %q (want) differ\n%s", text, s.name, w.stores[0].name, firstDifference(got, want))
		}
	}
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// among reports whether every line of some stands in all.
func among(some, all []string) bool {
	in := map[string]bool{}
	for _, l := range all {
		in[l] = true
	}
	return !slices.ContainsFunc(some, func(l string) bool { return !in[l] })
}
