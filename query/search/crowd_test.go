package search_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/internal/race"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/shard"
)

// newCrowd is a corpus of some hundred tiny repositories in common shards: names that
// are prefixes of others, forks with the files of another, archived and private ones,
// some with readers, some empty, some that are not indexed, and histories that are not
// all kept.
func newCrowd(t testing.TB, rng *rand.Rand) *corpus {
	t.Helper()
	facts := map[string]store.Repository{}
	var files []doc
	n := 120 + rng.IntN(200)
	for i := range n {
		r := store.Repository{Fork: rng.IntN(5) == 0, Archived: rng.IntN(7) == 0, Private: rng.IntN(6) == 0, Stars: rng.IntN(4), Description: randomDescription(rng)}
		if r.Topics = []string{"blue", "go"}[:rng.IntN(3)]; rng.IntN(3) == 0 {
			r.Metadata = randomMetadata(rng)
		}
		if rng.IntN(8) == 0 {
			r.Readers = &store.Readers{Users: []uint32{uint32(1 + rng.IntN(2))}}
		}
		name := fmt.Sprintf("org%d/r%d", i%7, i)
		facts[name] = r
		if old := len(files); r.Fork && old > 0 {
			shared := files[rng.IntN(old)]
			shared.repo, shared.path, shared.dead = name, "base/"+shared.path, false
			files = append(files, shared)
		}
		for k := range 1 + rng.IntN(2) {
			files = append(files, doc{repo: name, path: fmt.Sprintf("src/f%d.go", k), dead: rng.IntN(12) == 0, text: crowdWord(rng) + "\n" + crowdWord(rng) + "\n"})
		}
	}
	c := newCorpus(t, 60+rng.IntN(200), facts, files)
	c.addHistories(t, rng)
	for i := range 12 {
		r := store.Repository{Name: fmt.Sprintf("org%d/later%d", i%7, i), Fork: i%5 == 0, Archived: i%4 == 0, Stars: i % 3}
		switch i % 4 {
		case 0:
			r.Generation = 1 // and is empty
		case 1:
			r.Mirror = true
		case 2:
			r.LastError = "gone"
		}
		if _, err := c.st.Repositories().New(r); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func crowdWord(rng *rand.Rand) string {
	return []string{"foo", "bar", "foo bar", "baz", "func part", "Foo"}[rng.IntN(6)]
}

func randomDescription(rng *rand.Rand) string {
	return []string{"", "the blue part", "a part\nof two lines", "The Whole", "part 12"}[rng.IntN(5)]
}

func randomMetadata(rng *rand.Rand) map[string]*string {
	team := []string{"ox", "yak"}[rng.IntN(2)]
	return []map[string]*string{{"team": &team}, {"tag": nil}, {"team": &team, "tag": nil}, {"team": nil}}[rng.IntN(4)]
}

// addHistories writes a history shard with a commit of each repository. What some
// have is not all kept.
func (c *corpus) addHistories(t testing.TB, rng *rand.Rand) {
	t.Helper()
	w := c.st.NewShardWriter()
	defer w.Close()
	sn := c.st.Snapshot()
	repos := sn.Repositories()
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	var change store.Change
	for here := range slices.Chunk(repos, 100) {
		var with []*store.Repository
		for _, stored := range here {
			r := *stored
			oid, err := hex.DecodeString(r.Commit())
			if err != nil {
				t.Fatal(err)
			}
			by := shard.Signature{Person: shard.Person{Name: "Ada", Email: "ada@example.com"}, Seconds: 1_600_000_000 + int64(r.ID)}
			one := shard.Commit{Repository: r.ID, OID: oid, Author: by, Committer: by, Effective: by.Seconds}
			if err := w.AddCommit(one, crowdWord(rng)+"\n", nil); err != nil {
				t.Fatal(err)
			}
			r.History = store.History{Tip: r.Commit(), Commits: 1, Newest: by.Seconds, More: rng.IntN(60) == 0}
			if rng.IntN(40) == 0 {
				r.History.Reading = r.Commit() // git is asked, and is not there
			}
			r.Branches = crowdBranches(rng, r.Commit())
			with = append(with, &r)
		}
		h, err := w.Finish(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change.Add = append(change.Add, h)
		for _, r := range with {
			r.History.Shards = []uint32{h.ID}
		}
		change.Repositories = append(change.Repositories, with...)
	}
	if err := c.st.Commit(change); err != nil {
		t.Fatal(err)
	}
}

// crowdBranches are the indexed branches of a repository: one that most call alike, and
// of some another one.
func crowdBranches(rng *rand.Rand, commit string) []store.Branch {
	out := []store.Branch{{Name: "main", Commit: commit}}
	if rng.IntN(5) == 0 {
		out[0].Name = "trunk"
	}
	if rng.IntN(9) == 0 {
		out = append(out, store.Branch{Name: []string{"side", "main"}[rng.IntN(2)], Commit: strings.Repeat("c", 40)})
	}
	return out
}

// upset removes, renames or changes a repository, adds one or merges shards.
func (c *corpus) upset(t testing.TB, rng *rand.Rand) {
	t.Helper()
	sn := c.st.Snapshot()
	repos := sn.Repositories()
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	r := repos[rng.IntN(len(repos))]
	err := error(nil)
	switch rng.IntN(7) {
	case 0:
		err = ingest.New(c.st, ingest.Options{}).Remove(context.Background(), r.Name)
		c.files = slices.DeleteFunc(c.files, func(f doc) bool { return f.repo == r.Name })
	case 1:
		next := *r
		next.Name = fmt.Sprintf("org%d/new%d", rng.IntN(7), rng.IntN(1_000_000))
		err = c.st.Commit(store.Change{Repositories: []*store.Repository{&next}})
		for i := range c.files {
			if c.files[i].repo == r.Name {
				c.files[i].repo = next.Name
			}
		}
	case 2:
		var readers *store.Readers
		if rng.IntN(2) == 0 {
			readers = &store.Readers{Users: []uint32{uint32(rng.IntN(3))}}
		}
		err = c.st.Update(func(tx *store.Tx) error {
			_, err := tx.SetReaders(r.Name, readers)
			return err
		})
	case 3:
		_, err = c.st.Repositories().New(store.Repository{Name: fmt.Sprintf("org1/add%d", rng.IntN(1_000_000)), Mirror: rng.IntN(2) == 0})
	case 4:
		c.merge(t)
	default:
		fork, archived, private, stars := rng.IntN(3) == 0, rng.IntN(3) == 0, rng.IntN(3) == 0, rng.IntN(5)
		description, topics := randomDescription(rng), []string{"blue", "go"}[:rng.IntN(3)]
		_, err = c.st.Repositories().ChangeFacts(r.Name, store.FactsChange{Fork: &fork, Archived: &archived, Private: &private, Stars: &stars,
			Description: &description, Topics: &topics, ClearMetadata: rng.IntN(2) == 0, Metadata: randomMetadata(rng)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// crowdFilter is a filter on repositories and what it means.
type crowdFilter struct {
	text  string
	holds func(*store.Repository) bool
}

var crowdFilters = []crowdFilter{
	{"repo:^org1", func(r *store.Repository) bool { return strings.HasPrefix(r.Name, "org1") }},
	{"repo:/r1", func(r *store.Repository) bool { return strings.Contains(r.Name, "/r1") }},
	{"repo:ORG", func(r *store.Repository) bool { return strings.Contains(r.Name, "org") }},
	{"repo:[13]$", func(r *store.Repository) bool {
		return strings.HasSuffix(r.Name, "1") || strings.HasSuffix(r.Name, "3")
	}},
	{"repo:none", func(*store.Repository) bool { return false }},
	{"-repo:/r1", func(r *store.Repository) bool { return !strings.Contains(r.Name, "/r1") }},
	{"-repo:^org[0-4]", func(r *store.Repository) bool { return r.Name[3] > '4' }},
	{"fork:yes", func(*store.Repository) bool { return true }},
	{"fork:only", func(r *store.Repository) bool { return r.Fork }},
	{"fork:no", func(r *store.Repository) bool { return !r.Fork }},
	{"archived:yes", func(*store.Repository) bool { return true }},
	{"archived:only", func(r *store.Repository) bool { return r.Archived }},
	{"archived:no", func(r *store.Repository) bool { return !r.Archived }},
	{"visibility:private", func(r *store.Repository) bool { return r.Private }},
	{"visibility:public", func(r *store.Repository) bool { return !r.Private }},
	{"repo:has.topic(blue)", func(r *store.Repository) bool { return slices.Contains(r.Topics, "blue") }},
	{"-repo:has.topic(go)", func(r *store.Repository) bool { return !slices.Contains(r.Topics, "go") }},
	{"repo:has.description(part)", func(r *store.Repository) bool { return strings.Contains(r.Description, "part") }},
	{"repo:has.description(a.*lines)", func(r *store.Repository) bool { return r.Description == "a part\nof two lines" }},
	{"repo:has.description(x*)", func(*store.Repository) bool { return true }},
	{"repo:has.meta(team:ox)", func(r *store.Repository) bool { v := r.Metadata["team"]; return v != nil && *v == "ox" }},
	{"-repo:has.key(team)", func(r *store.Repository) bool { _, ok := r.Metadata["team"]; return !ok }},
	{"repo:has.tag(tag)", func(r *store.Repository) bool { v, ok := r.Metadata["tag"]; return ok && v == nil }},
	{"repo:has.meta(/t.*/:/yak|ox/)", func(r *store.Repository) bool { return r.Metadata["team"] != nil }},
}

// drawFilters draws some filters, no two of one field but repo.
func drawFilters(rng *rand.Rand) (out []crowdFilter) {
	fields := map[string]bool{}
	for range rng.IntN(4) {
		f := crowdFilters[rng.IntN(len(crowdFilters))]
		field, _, _ := strings.Cut(f.text, ":")
		if repeatable := strings.HasSuffix(field, "repo"); repeatable || !fields[field] {
			fields[field] = true
			out = append(out, f)
		}
	}
	return out
}

// crowdCounts are what a search says of the repositories that it chose.
type crowdCounts struct{ known, chosen, forks, archived, unindexed, documents int }

// choose applies filters by their meaning to each repository.
func (c *corpus) choose(t testing.TB, filters []crowdFilter, visible func(*store.Repository) bool) (n crowdCounts, chosen map[string]bool) {
	t.Helper()
	sn := c.st.Snapshot()
	defer sn.Close()
	said := ""
	for _, f := range filters {
		said += " " + f.text
	}
	noForks, noArchived := !strings.Contains(said, " fork:"), !strings.Contains(said, " archived:")
	chosen = map[string]bool{}
	for _, r := range sn.Repositories() {
		if visible != nil && !visible(r) {
			continue
		}
		n.known++
		if slices.ContainsFunc(filters, func(f crowdFilter) bool { return !f.holds(r) }) {
			continue
		}
		fork, archived := noForks && r.Fork, noArchived && r.Archived
		if fork {
			n.forks++
		}
		if archived {
			n.archived++
		}
		if fork || archived {
			continue
		}
		n.chosen, n.documents, chosen[r.Name] = n.chosen+1, n.documents+r.Documents, true
		if !r.Indexed() {
			n.unindexed++
		}
	}
	return n, chosen
}

// countsOf are those that the trace of a search tells.
func countsOf(t testing.TB, tr *report.Trace) (n crowdCounts) {
	t.Helper()
	fields := map[string]*int{"known": &n.known, "chosen": &n.chosen, "forks left out": &n.forks, "archived left out": &n.archived, "not indexed": &n.unindexed}
	for _, s := range tr.Steps() {
		if s.Name != "choose repositories" {
			continue
		}
		for _, f := range s.Fields {
			var err error
			if *fields[f.Key], err = strconv.Atoi(f.Value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows, rest := tr.Coverage()
	if covered := len(rows) + rest.Repositories; covered != n.chosen {
		t.Errorf("the coverage is of %d repositories, %d were chosen", covered, n.chosen)
	}
	n.documents = rest.Documents
	for _, row := range rows {
		n.documents += row.Documents
	}
	return n
}

// TestOracleOfCrowds: over many repositories, which come, go and change, searches that
// choose them by sets give what the full scan gives, which looks at each: matches,
// order, counts, facets, what was skipped. Which repositories are searched, and how
// many documents, is by the meaning of the filters.
func TestOracleOfCrowds(t *testing.T) {
	seeds := 12
	if race.Enabled || testing.Short() {
		seeds = 3
	}
	first := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("TRAWL_SEED"), 10, 64); err == nil {
		first, seeds = n, 1
	}
	for seed := first; seed < first+uint64(seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 53))
			c := newCrowd(t, rng)
			repeat := fmt.Sprintf("repeat: TRAWL_SEED=%d go test ./query/search -run TestOracleOfCrowds", seed)
			for i := range 80 {
				if i%4 == 3 {
					c.upset(t, rng)
				}
				o := search.Options{}
				switch rng.IntN(6) {
				case 0:
					o.Visible, o.PublicVisible = func(r *store.Repository) bool { return r.Readers.Allow(1, nil) }, true
				case 1:
					half := uint32(rng.IntN(2))
					o.Visible = func(r *store.Repository) bool { return r.ID%2 == half }
				case 2:
					one := 1 + uint32(rng.IntN(100))
					o.Only, o.Visible = one, func(r *store.Repository) bool { return r.ID == one }
				case 3:
					hidden := uint32(rng.IntN(100))
					o.Visible = func(r *store.Repository) bool { return r.ID/3 != hidden }
				}
				filters := drawFilters(rng)
				said := ""
				for _, f := range filters {
					said += f.text + " "
				}
				if rng.IntN(2) == 0 {
					word := []string{"foo", "bar", "absent", "/f.o/", "(foo and bar)"}[rng.IntN(5)]
					c.checkCrowd(t, o, filters, said, "type:file "+word, repeat)
					continue
				}
				text := said + []string{"foo", "r1", "type:repo org1", "type:repo /r1/", "select:repo foo", "count:3 foo", "count:10 type:repo r", "type:commit foo",
					"type:commit count:2 bar", "type:commit author:ada not foo", "type:path f1", "type:symbol foo", "not foo", "type:repo not later",
					"repo:has.file(path:f1) foo", "repo:has.content(baz) foo", "-repo:has.content(baz) bar", "repo:has.file(path:nowhere) foo",
					"repo:has.path(base) -repo:has.content(Foo) type:repo", "repo:has.commit.after(2020-09-13T12:28:40Z) foo",
					"-repo:has.commit.after(2020-09-13T12:28:40Z) type:repo", "repo:has.content(bar) type:commit foo",
					"repo:. rev:main foo", "repo:.@HEAD bar", "repo:. rev:refs/heads/trunk foo", "repo:.@side foo", "repo:.@nosuch foo", "repo:. rev:main type:repo",
					"repo:. rev:trunk type:commit foo", "repo:.@main count:3 foo", "repo:.@main repo:has.content(baz) bar", "repo:.@trunk -repo:has.file(path:f1) foo",
					"repo:.@main repo:has.commit.after(2020-09-13T12:28:40Z) foo", "repo:.@main:side foo", "repo:.@main repo:has.content(nothing) foo",
					"repo:. rev:main index:only foo", "repo:.@trunk repo:has.path(^base/) foo"}[rng.IntN(37)]
				if rng.IntN(3) == 0 {
					text = "(" + text + ") or (" + []string{"fork:only bar", "repo:r2 absent", "archived:yes -repo:org1 foo", "type:commit bar",
						"repo:. rev:main repo:has.content(baz) bar", "repo:r2 repo:has.file(path:f1) baz", "repo:.@trunk foo"}[rng.IntN(7)] + ")"
				}
				c.sameOneByOne(t, o, text, repeat)
				if !strings.Contains(text, "count:") {
					c.sameAsBrute(t, o, text+" count:all", repeat)
				}
			}
		})
	}
}

// sameOneByOne compares a search with one that looks at each repository: a filter that
// every description passes has no index.
func (c *corpus) sameOneByOne(t *testing.T, o search.Options, text, repeat string) {
	t.Helper()
	bySets, oneByOne := o, o
	bySets.Trace, oneByOne.Trace = &report.Trace{}, &report.Trace{}
	got := c.search(t, search.Settings{Workers: 2}, bySets, "("+text+")", query.Keyword)
	want := c.search(t, search.Settings{Workers: 1}, oneByOne, "repo:has.description(x*) ("+text+")", query.Keyword)
	if !reflect.DeepEqual(got.matches, want.matches) {
		t.Fatalf("query %q: by sets and one by one differ\n%s\n%s", text, firstDifference(got.full(), want.full()), repeat)
	}
	if got.counted() != want.counted() {
		t.Fatalf("query %q: by sets and one by one tell\n%s\n%s\n%s", text, got.counted(), want.counted(), repeat)
	}
	if g, w := coverageOf(bySets.Trace), coverageOf(oneByOne.Trace); g != w {
		t.Fatalf("query %q: by sets and one by one cover\n%s\n%s\n%s", text, g, w, repeat)
	}
}

// coverageOf is what a trace says of the repositories that were searched.
func coverageOf(tr *report.Trace) string {
	rows, rest := tr.Coverage()
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s@%s of %d documents, %v unsearched\n", r.Repository, r.Revision, r.Documents, r.Unsearched)
	}
	return fmt.Sprintf("%sthe rest: %+v", b.String(), rest)
}

// counted is all that a search counts.
func (a answered) counted() string {
	p := a.results.Progress()
	p.Took = 0
	return fmt.Sprintf("%+v\n%+v", p, a.results.Filters())
}

// sameAsBrute compares a search for everything with the full scan. Where matches are
// many, groups of candidates are sorted, of which a scan has more.
func (c *corpus) sameAsBrute(t *testing.T, o search.Options, text, repeat string) {
	t.Helper()
	got := c.search(t, search.Settings{Workers: 2}, o, text, query.Keyword)
	brute := c.search(t, search.Settings{Brute: true}, o, text, query.Keyword)
	whole := func(a answered) []string {
		_, commits := commitLines(a)
		files := slices.DeleteFunc(a.full(), func(line string) bool { return strings.HasPrefix(line, "&{") })
		return append(files, commits...)
	}
	g, w := whole(got), whole(brute)
	slices.Sort(g)
	slices.Sort(w)
	if !slices.Equal(g, w) {
		t.Fatalf("query %q: index and scan differ\n%s\n%s", text, firstDifference(g, w), repeat)
	}
	if got.counted() != brute.counted() {
		t.Fatalf("query %q: index and scan tell\n%s\n%s\n%s", text, got.counted(), brute.counted(), repeat)
	}
}

// checkCrowd compares a search for files with the meaning of its filters.
func (c *corpus) checkCrowd(t *testing.T, o search.Options, filters []crowdFilter, said, pattern, repeat string) {
	t.Helper()
	text := said + pattern + " count:all"
	o.Trace = &report.Trace{}
	got := c.search(t, search.Settings{Workers: 1}, o, text, query.Keyword)
	want, chosen := c.choose(t, filters, o.Visible)
	if counts := countsOf(t, o.Trace); counts != want {
		t.Fatalf("query %q: counts %+v, want %+v\n%s", text, counts, want, repeat)
	}
	o.Trace = nil
	c.sameOneByOne(t, o, said+pattern, repeat)
	c.sameAsBrute(t, o, text, repeat)
	some := &corpus{}
	for _, f := range c.files {
		if chosen[f.repo] {
			some.files = append(some.files, f)
		}
	}
	q, err := syntax.Parse(pattern, query.Keyword)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := stripPaths(got.lines()), some.naive(q); !slices.Equal(g, w) {
		t.Fatalf("query %q: got and want differ\n%s\n%s", text, firstDifference(g, w), repeat)
	}
}
