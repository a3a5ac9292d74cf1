package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/postings"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/lang"
	"github.com/trawlsearch/trawl/store/shard"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// doc is a document of a test corpus.
type doc struct {
	repo, path, text string
	// rev is the revision as typed, in what is compared with.
	rev     string
	reason  shard.Reason
	quality byte
	dead    bool
	// indexed keeps the document out of those that are always scanned.
	indexed bool
	// folded says that a shard that begins with the document has no lists of
	// upper-case letters.
	folded bool
}

// corpus is a store made from files, in shards of a few blocks.
type corpus struct {
	files []doc
	st    *store.Store
	repos map[string]*store.Repository
}

// open opens the corpus's store on fs.
func (c *corpus) open(t testing.TB, fs vfs.FS) {
	t.Helper()
	var err error
	if c.st, err = store.Open("data", store.Options{FS: fs, CacheBytes: 8 << 20}); err != nil {
		t.Fatal(err)
	}
}

// close closes the store, which tells of snapshots left open.
func (c *corpus) close(t testing.TB) {
	t.Helper()
	if err := c.st.Close(); err != nil {
		t.Error(err)
	}
}

func newCorpus(t testing.TB, blocks int, facts map[string]store.Repository, files []doc) *corpus {
	t.Helper()
	c := newCorpusOn(t, vfs.NewMem(), blocks, facts, files)
	t.Cleanup(func() { c.close(t) })
	return c
}

// newCorpusOn leaves closing to the caller.
func newCorpusOn(t testing.TB, fs vfs.FS, blocks int, facts map[string]store.Repository, files []doc) *corpus {
	t.Helper()
	c := &corpus{files: files, repos: map[string]*store.Repository{}}
	c.open(t, fs)
	st := c.st
	for _, f := range files {
		if c.repos[f.repo] == nil {
			r := facts[f.repo]
			r.Name, r.Generation = f.repo, 1
			r.Branches = []store.Branch{{Name: "main", Commit: strings.Repeat(fmt.Sprintf("%x", len(c.repos)+1), 40)[:40]}}
			r.History.Tip = r.Branches[0].Commit
			kept, err := st.Repositories().New(r)
			if err != nil {
				t.Fatal(err)
			}
			own := *kept // the store's does not change
			c.repos[f.repo] = &own
		}
	}
	w := st.NewShardWriter()
	defer w.Close()
	w.MaxBlocks = blocks
	change := store.Change{Dead: map[uint32]*postings.Set{}}
	dead := &postings.Set{}
	in := map[string]bool{}
	finish := func() {
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if h.Index == shard.IndexFoldedLists {
			h.Reasons = nil // nor did programs count these that wrote such lists
		}
		change.Add = append(change.Add, h)
		if dead.Len() > 0 {
			change.Dead[h.ID] = dead
		}
		for name := range in {
			c.repos[name].Shards = append(c.repos[name].Shards, h.ID)
		}
		dead, in = &postings.Set{}, map[string]bool{}
	}
	n := 0
	for i, f := range files {
		if !w.Fits(len(f.text)) && !w.Empty() {
			finish()
			n = 0
		}
		if w.Empty() {
			w.Index = shard.IndexNewest
			if f.folded {
				w.Index = shard.IndexFoldedLists
			}
		}
		d := shard.Document{Repository: c.repos[f.repo].ID, Path: f.path, OID: make([]byte, 20), Mode: 0o100644, Reason: f.reason,
			Quality: f.quality, Language: lang.Detect(f.path, []byte(f.text))}
		if err := w.AddDocument(d, []byte(f.text), f.indexed || i%11 != 5); err != nil {
			t.Fatal(err)
		}
		if f.dead {
			dead.Add(uint16(n))
		} else {
			c.repos[f.repo].Documents++
		}
		in[f.repo] = true
		n++
	}
	if !w.Empty() {
		finish()
	}
	for _, r := range c.repos {
		stored := *r
		change.Repositories = append(change.Repositories, &stored)
	}
	if err := st.Commit(change); err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is everything a search said.
type answered struct {
	matches []query.Match
	outcome search.Outcome
	results *report.Report
	batches int
}

func (c *corpus) search(t testing.TB, s search.Settings, o search.Options, text string, pt query.PatternType) answered {
	t.Helper()
	return ask(t, search.New(c.st, s), o, text, pt)
}

// ask is corpus.search by a searcher that may have answered before.
func ask(t testing.TB, searcher *search.Searcher, o search.Options, text string, pt query.PatternType) answered {
	t.Helper()
	q, err := syntax.Parse(text, pt)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	a := answered{results: report.New(time.Now)}
	o.Report = a.results
	if o.Display == 0 {
		o.Display = -1
	}
	a.outcome = searcher.Search(context.Background(), q, o, answer.SinkFunc(func(m []query.Match) error {
		a.batches++
		a.matches = append(a.matches, m...)
		return nil
	}))
	if a.outcome.Err != nil {
		t.Fatalf("search %q: %v", text, a.outcome.Err)
	}
	return a
}

// lines prints matches one per line: kind, repository, path, ranges by offset.
func (a answered) lines() []string {
	var out []string
	for _, m := range a.matches {
		switch m := m.(type) {
		case *query.RepoMatch:
			out = append(out, "repo "+m.Repo.Name)
		case *query.OwnerMatch:
			out = append(out, "owner "+m.Handle+m.Email)
		case *query.FileMatch:
			kind := "path"
			if len(m.Chunks) > 0 {
				kind = "content"
			}
			s := fmt.Appendf(nil, "%s %s %q", kind, at(m.Repo.Name, m.Rev), m.Path)
			for _, c := range m.Chunks {
				for _, r := range c.Ranges {
					s = appendRange(s, int(r.Start.Offset), int(r.End.Offset))
				}
			}
			if len(m.PathRanges) > 0 {
				s = append(s, " path"...)
				for _, r := range m.PathRanges {
					s = appendRange(s, int(r.Start.Offset), int(r.End.Offset))
				}
			}
			out = append(out, string(s))
		}
	}
	return out
}

// appendRange writes " start-end". There are thousands to a document, for which
// Sprintf takes longer than the search.
func appendRange(s []byte, start, end int) []byte {
	s = strconv.AppendInt(append(s, ' '), int64(start), 10)
	return strconv.AppendInt(append(s, '-'), int64(end), 10)
}

// at writes a repository at a revision.
func at(repo, rev string) string {
	if rev == "" {
		return repo
	}
	return repo + "@" + rev
}

// full prints everything, chunks included.
func (a answered) full() []string {
	var out []string
	for _, m := range a.matches {
		if f, ok := m.(*query.FileMatch); ok {
			out = append(out, fmt.Sprintf("%s %s %s %q %v %v %v", at(f.Repo.Name, f.Rev), f.Commit, f.Language, f.Path, f.Chunks, f.PathRanges, f.Score))
			continue
		}
		r, ok := m.(*query.RepoMatch)
		if !ok {
			out = append(out, fmt.Sprintf("%+v", m))
			continue
		}
		out = append(out, fmt.Sprintf("repo %s %v %q", r.Repo.Name, r.NameRanges, r.Rev))
	}
	return out
}

var vocabulary = []string{"foo", "Foo", "FOO", "bar", "baz_qux", "k", "s", "ſ", "\u212a", "Straße", "ΑΒΓ", "αβγ", "xy", "->", "();", "12", "345",
	"é", "É", "日本", "_", "task", "TASK", "if (", "readme", "main.go", "test", "K", "Q", "fooBar", "FooBar", "IRQ_Save", "irq_save"}

func randomCorpus(t testing.TB, rng *rand.Rand) *corpus {
	var files []doc
	for i := range 6 + rng.IntN(20) {
		n := []int{0, 5, 60, 400, 4090, 4200, 9000, 70000}[rng.IntN(8)]
		if n == 70000 && rng.IntN(8) > 0 {
			n = 300
		}
		var b strings.Builder
		for b.Len() < n {
			if rng.IntN(16) == 0 {
				b.WriteString([]string{"\nfunc ", "\ntype ", "\nconst "}[rng.IntN(3)])
			}
			b.WriteString(vocabulary[rng.IntN(len(vocabulary))])
			b.WriteString([]string{"", "", " ", " ", "\n", "\r\n", "\xff", "\xc3", "\t"}[rng.IntN(9)])
		}
		f := doc{folded: rng.IntN(3) == 0, repo: []string{"example.org/one", "example.org/two", "three"}[rng.IntN(3)], text: b.String(), dead: rng.IntN(8) == 0, quality: byte(rng.IntN(3))}
		f.path = fmt.Sprintf("%s/%s%d%s", []string{"src", "Foo", "test/ſ", "日本", "src/vendor", "Vendor"}[rng.IntN(6)], vocabulary[rng.IntN(len(vocabulary))], i,
			[]string{".go", ".GO", ".c", ".h", ".md", ".txt", "", "_test.go", "_Test.go", "_tests.go", ".min.js"}[rng.IntN(11)])
		if rng.IntN(12) == 0 {
			f.text, f.reason = "", shard.ReasonBinary
		}
		files = append(files, f)
	}
	c := newCorpus(t, []int{20, 30, 1000}[rng.IntN(3)], nil, files)
	if rng.IntN(4) == 0 {
		c.merge(t)
	}
	if rng.IntN(2) == 0 {
		c.symbols(t)
	}
	return c
}

// merge rewrites shards as long as that is worth it.
func (c *corpus) merge(t testing.TB) {
	t.Helper()
	for {
		n, err := ingest.New(c.st, ingest.Options{MinFreeBytes: -1}).Merger.Merge(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// randomQuery draws query text in keyword syntax.
func randomQuery(rng *rand.Rand) string {
	var parts []string
	if rng.IntN(3) == 0 {
		parts = append(parts, "case:yes")
	}
	for range rng.IntN(3) {
		parts = append(parts, []string{"type:file", "type:path", "type:file type:path", "file:src", "-file:foo", "file:go$", "lang:go", "-lang:c",
			"repo:one", "-repo:two", "lang:markdown", "file:ſ", "file:[k]"}[rng.IntN(13)])
	}
	if rng.IntN(4) == 0 {
		w := regexp.QuoteMeta(vocabulary[rng.IntN(len(vocabulary))])
		parts = append(parts, []string{"", "-"}[rng.IntN(2)]+"repo:"+[]string{
			"has.path(" + w + ")", "has.content(" + w + ")", "has.content(^" + w + "\\n)", "has.file(path:src content:" + strings.ReplaceAll(w, " ", "\\s") + ")",
		}[rng.IntN(4)])
	}
	if rng.IntN(4) == 0 {
		w := regexp.QuoteMeta(vocabulary[rng.IntN(len(vocabulary))])
		parts = append(parts, "file:has.content("+[]string{w, "^" + w, `\b` + w + `|12`, `x*`}[rng.IntN(4)]+")")
		if rng.IntN(8) == 0 {
			return strings.Join(parts, " ")
		}
	}
	parts = append(parts, randomExpression(rng, rng.IntN(3)))
	return strings.Join(parts, " ")
}

func randomExpression(rng *rand.Rand, depth int) string {
	if depth == 0 {
		w := vocabulary[rng.IntN(len(vocabulary))]
		switch rng.IntN(8) {
		case 0:
			return "/" + []string{`fo+`, `\bfoo\b`, `b.r`, `^foo`, `\w+_q`, `[0-9]+`, `foo\s*bar`, `(task|12)`, `s{2}`, `x*`, `^$`, `\pL{3}$`, `(?-i:Foo)`, `\n`, `a|`,
				`Foo[A-Z]`, `Irq.*IRQ|Foo`, `[Ff]oo_?B`, `FOO(Foo)?\w*Bar`, `(?i:foo)Bar`}[rng.IntN(20)] + "/"
		case 1:
			return "not " + strconv.Quote(w)
		case 2:
			return "content:" + strconv.Quote(w)
		case 3:
			return strconv.Quote(w + []string{"", " ", "\n"}[rng.IntN(3)] + vocabulary[rng.IntN(len(vocabulary))])
		case 4:
			return strconv.Quote(string([]rune(w)[:1]))
		}
		return strconv.Quote(w)
	}
	a, b := randomExpression(rng, depth-1), randomExpression(rng, depth-1)
	switch rng.IntN(4) {
	case 0:
		return "(" + a + " or " + b + ")"
	case 1:
		return "(" + a + " file:src or " + b + ")"
	}
	return "(" + a + " and " + b + ")"
}

// TestOracle: random queries over random corpora give what the
// definition gives, and exactly what the full scan by Go's regexp gives, all
// offsets, lines and order included, with a limit and without. For each of them a
// query in another form gives what its meaning gives, and a facet and a suggestion
// are followed. TRAWL_SEED repeats one corpus, TRAWL_CASES sets how many queries
// (a hundred thousand before a release).
func TestOracle(t *testing.T) {
	cases := 2000
	switch {
	case race.Enabled:
		cases = 200
	case testing.Short():
		cases = 1000
	}
	if n, err := strconv.Atoi(os.Getenv("TRAWL_CASES")); err == nil {
		cases = n
	}
	const perCorpus = 100
	first := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); err == nil {
		first, cases = n, perCorpus
	}
	for seed := first; seed < first+uint64(cases/perCorpus); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 17))
			c := randomCorpus(t, rng)
			planBytes := []int{0, 0, 512}[seed%3] // the least makes plans forget most
			for range perCorpus {
				text := randomQuery(rng)
				o := search.Options{ContextLines: rng.IntN(3)}
				q, err := syntax.Parse(text, query.Keyword)
				if err != nil {
					t.Fatalf("parse %q: %v", text, err)
				}
				// With few heads it has more candidates than may go first.
				heads := []int{0, 1, 4}[rng.IntN(3)]
				ask := func(count string, set search.Settings) answered {
					set.PlanBytes, set.TopDocuments = planBytes, heads
					return c.search(t, set, o, text+count, query.Keyword)
				}
				repeat := fmt.Sprintf("repeat: TRAWL_SEED=%d go test ./query/search -run TestOracle", seed)
				for _, count := range []string{fmt.Sprintf(" count:%d", 1+rng.IntN(20)), " count:all"} {
					got, brute := ask(count, search.Settings{Workers: 1 + rng.IntN(3)}), ask(count, search.Settings{Brute: true})
					if !reflect.DeepEqual(got.matches, brute.matches) {
						t.Fatalf("query %q%s: index and scan differ\n%s\n%s", text, count, firstDifference(got.full(), brute.full()), repeat)
					}
					if count != " count:all" {
						continue
					}
					if g, w := stripPaths(got.lines()), c.naive(q); !slices.Equal(g, w) {
						t.Fatalf("query %q: got and want differ\n%s\n%s", text, firstDifference(g, w), repeat)
					}
				}
				follows := c.asks(t, search.Settings{PlanBytes: planBytes, TopDocuments: heads}, facetNow)
				for _, wrong := range []string{
					c.compareRestated(t, rng),
					c.followLimit(t, rng, text),
					followFacets(t, follows, text+" count:all", rng.IntN(100)),
				} {
					if wrong != "" {
						t.Fatalf("%s\n%s", wrong, repeat)
					}
				}
			}
		})
	}
}

// stripPaths drops repositories and path ranges and sorts.
func stripPaths(lines []string) []string {
	var out []string
	for _, l := range lines {
		if strings.HasPrefix(l, "repo ") {
			continue
		}
		if i := strings.LastIndex(l, `" path `); i >= 0 {
			l = l[:i+1]
		} else if i := strings.LastIndex(l, " path "); i > 0 {
			l = l[:i]
		}
		out = append(out, l)
	}
	slices.Sort(out)
	return out
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "(end)", "(end)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("line %d of %d and %d\n got %.400s\nwant %.400s", i, len(got), len(want), g, w)
		}
	}
	return "no difference"
}
