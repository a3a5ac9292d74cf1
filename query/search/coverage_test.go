package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/answer"
	"github.com/trawlsearch/trawl/query/search/coverage"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/query/syntax"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/shard"
)

// tellCoverage prints what a trace says was looked at, a line for each revision.
func tellCoverage(tr *report.Trace) string {
	var out []string
	all, rest := tr.Coverage()
	for _, c := range all {
		line := fmt.Sprintf("%s@%s %.4s: %d documents, %d candidates, %d verified", c.Repository, c.Revision, c.Commit, c.Documents, c.Candidates, c.Verified)
		for _, u := range c.Unsearched {
			line += fmt.Sprintf(", %s %d", u.Reason, u.Documents)
		}
		out = append(out, line)
	}
	if rest.Repositories > 0 {
		out = append(out, fmt.Sprintf("and %d repositories with %d documents, %d without text", rest.Repositories, rest.Documents, rest.Unsearchable))
	}
	return strings.Join(out, "\n")
}

func coverageCorpus(t testing.TB, fs vfs.FS) *corpus {
	return newCorpusOn(t, fs, 2, nil, []doc{
		{repo: "one", path: "a.go", text: "ox\n"},
		{repo: "one", path: "b.go", text: "yak\n"},
		{repo: "one", path: "c.go", text: "ox yak\n"},
		{repo: "one", path: "dead.go", text: "ox\n", dead: true},
		{repo: "one", path: "logo.png", reason: shard.ReasonBinary},
		{repo: "one", path: "old.png", reason: shard.ReasonBinary, dead: true},
		{repo: "one", path: "huge.json", reason: shard.ReasonTooLarge},
		{repo: "two", path: "sub", reason: shard.ReasonSubmodule},
		{repo: "two", path: "d.go", text: "ox\n"},
	})
}

func TestCoverage(t *testing.T) {
	c := coverageCorpus(t, vfs.NewMem())
	defer c.close(t)
	if _, err := c.st.Repositories().New(store.Repository{Name: "later"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ query, want string }{
		// all of it, by what the index left
		{"repo:one ox count:all", "one@ 1111: 5 documents, 2 candidates, 2 verified, binary 1, too-large 1"},
		{"repo:one qqqq count:all", "one@ 1111: 5 documents, 0 candidates, 0 verified, binary 1, too-large 1"},
		{"repo:two type:path sub", "two@ 2222: 2 documents, 1 candidates, 1 verified, submodule 1"},
		{"repo:one@HEAD ox count:all", "one@HEAD 1111: 5 documents, 2 candidates, 2 verified, binary 1, too-large 1"},

		// several parts are counted each
		{"repo:one (ox or (yak count:all))", "one@ 1111: 5 documents, 4 candidates, 4 verified, binary 1, too-large 1"},

		// what has no text yet
		{"repo:later ox", "later@ : 0 documents, 0 candidates, 0 verified, repository-indexing 0"},
		{"repo:one type:symbol ox", "one@ 1111: 5 documents, 0 candidates, 0 verified, binary 1, symbols-missing 5, too-large 1"},

		// names of repositories have no documents
		{"type:repo one", ""},
	} {
		tr := &report.Trace{}
		c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, tt.query, query.Keyword)
		if got := tellCoverage(tr); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.query, got, tt.want)
		}
	}
}

// TestCoverageOfShardsThatAreNotRead: of repositories without candidates those are told of
// by themselves that have shards to themselves, or small ones.
func TestCoverageOfShardsThatAreNotRead(t *testing.T) {
	const many = 4200
	var files []doc
	for i := range 3 * many {
		d := doc{repo: "alone", path: fmt.Sprintf("f%05d.txt", i), text: "clay\n", indexed: true}
		if i >= many {
			d.repo = []string{"left", "right"}[i%2]
		}
		if i%many == 7 {
			d.reason, d.text = shard.ReasonBinary, ""
		}
		files = append(files, d)
	}
	files = append(files, doc{repo: "small", path: "kiln", text: "fire\n", indexed: true})
	fs := vfs.NewMem()
	newCorpusOn(t, fs, many, nil, files).close(t)
	c := &corpus{files: files}
	c.open(t, fs) // nothing is in memory
	defer c.close(t)
	tr := &report.Trace{}
	c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "zebra", query.Keyword)
	want := "small@ 4444: 1 documents, 0 candidates, 0 verified\n" +
		"alone@ 1111: 4200 documents, 0 candidates, 0 verified, binary 1\n" +
		"and 2 repositories with 8400 documents, 0 without text"
	if got := tellCoverage(tr); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	sn := c.st.Snapshot()
	defer sn.Close()
	for n, v := range sn.Shards() {
		if last := n == len(sn.Shards())-1; v.Loaded() && !last {
			t.Errorf("the table of shard %d is read", n)
		}
	}
}

// Candidates are those of their repositories, though the best are looked at first.
func TestCoverageOfRepositoriesInAShard(t *testing.T) {
	var files []doc
	for i := range 400 {
		d := doc{repo: "one", path: fmt.Sprintf("f%04d.txt", i), text: "clay, salt\n"}
		if i%10 == 0 {
			d.text = "salt clay\n" // the phrase, which promises more
		}
		if i >= 100 {
			d.repo = "two"
		}
		files = append(files, d)
	}
	c := newCorpus(t, 400, nil, files)
	want := "two@ 2222: 300 documents, 300 candidates, 300 verified\none@ 1111: 100 documents, 100 candidates, 100 verified"
	for _, top := range []int{8, 300} {
		tr := &report.Trace{}
		c.search(t, search.Settings{Workers: 1, TopDocuments: top}, search.Options{Trace: tr}, "type:file salt clay count:all", query.Keyword)
		if got := tellCoverage(tr); got != want {
			t.Errorf("of %d top documents:\n%s\nwant\n%s", top, got, want)
		}
	}
}

// A trace that nobody has read keeps nothing of what the search found: of 10,000
// repositories with a match that is megabytes, and there are many traces.
func TestTraceKeepsNoMatches(t *testing.T) {
	c := manyCorpus(t, 3000, 0)
	tr := &report.Trace{}
	var repos []weak.Pointer[query.Repository]
	for _, m := range c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "type:file part count:all", query.Keyword).matches {
		repos = append(repos, weak.Make(m.In()))
	}
	if len(repos) < 2500 {
		t.Fatalf("%d matches, want one for nearly each of 3,000 repositories", len(repos))
	}
	runtime.GC()
	kept := 0
	for _, r := range repos {
		if r.Value() != nil {
			kept++
		}
	}
	if kept > coverage.MaxRows {
		t.Errorf("the trace keeps %d of %d repositories that matched", kept, len(repos))
	}
	if rows, rest := tr.Coverage(); len(rows)+rest.Repositories != len(repos) {
		t.Errorf("the coverage is of %d and %d repositories, want %d", len(rows), rest.Repositories, len(repos))
	}
}

// What a limit keeps from being looked at is counted as such.
func TestCoverageOfLimits(t *testing.T) {
	var files []doc
	for i := range 3000 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("f%04d.txt", i), text: "ox\n"})
	}
	c := newCorpus(t, 3000, nil, files)
	tr := &report.Trace{}
	c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "type:file ox count:1", query.Keyword)
	all, _ := tr.Coverage()
	if len(all) != 1 || len(all[0].Unsearched) != 1 {
		t.Fatalf("got %s, want one revision with one reason", tellCoverage(tr))
	}
	got, left := all[0], all[0].Unsearched[0]
	if left.Reason != "shard-match-limit" || left.Documents == 0 || got.Verified+left.Documents != 3000 || got.Candidates != 3000 {
		t.Errorf("got %s; want what was not tried under shard-match-limit", tellCoverage(tr))
	}
	tr = &report.Trace{}
	c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "(type:repo r count:1) or (type:file ox count:2)", query.Keyword)
	if got, want := tellCoverage(tr), "r@ 1111: 3000 documents"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// So is what is in shards that it keeps from being planned, whether the record of
// the repository counts its documents or not.
func TestCoverageOfShardsNotReached(t *testing.T) {
	var files []doc
	for i := range 400 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("f%04d.txt", i), text: "ox\n", indexed: true})
	}
	for _, branches := range []int{1, 2} {
		c := newCorpus(t, 100, nil, files)
		r := c.repos["r"]
		for len(r.Branches) < branches {
			r.Branches = append(r.Branches, store.Branch{Name: "old", Commit: strings.Repeat("b", 40)})
		}
		if err := c.st.Commit(store.Change{Repositories: []*store.Repository{r}}); err != nil {
			t.Fatal(err)
		}
		tr := &report.Trace{}
		c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "type:file ox count:1", query.Keyword)
		if got, want := tellCoverage(tr), "r@ 1111: 400 documents, 100 candidates, 64 verified, shard-match-limit 336"; got != want {
			t.Errorf("%d branches: got %s, want %s", branches, got, want)
		}
	}
}

// Time that is up before anything was planned leaves all of it.
func TestCoverageOfTimeouts(t *testing.T) {
	c := coverageCorpus(t, vfs.NewMem())
	defer c.close(t)
	tr := &report.Trace{}
	c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "repo:one timeout:1ns ox", query.Keyword)
	if got, want := tellCoverage(tr), "one@ 1111: 5 documents, 0 candidates, 0 verified, shard-timeout 5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A shard that cannot be read is not counted as searched.
func TestCoverageOfDamage(t *testing.T) {
	fs := &faultyFS{FS: vfs.NewMem()}
	c := coverageCorpus(t, fs)
	c.close(t)
	c.open(t, fs)
	defer c.close(t)
	fault := func([]byte) error { return fmt.Errorf("input/output error") }
	fs.fault.Store(&fault)
	tr := &report.Trace{}
	a := c.search(t, search.Settings{Workers: 1}, search.Options{Trace: tr}, "repo:one ox", query.Keyword)
	fs.fault.Store(nil)
	if got, want := tellCoverage(tr), "one@ 1111: 5 documents, 0 candidates, 0 verified, backend-missing 5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if p := a.results.Progress(); len(p.Skipped) == 0 || p.Skipped[0].Reason != "backend-missing" {
		t.Errorf("got %+v, want what cannot be read", p.Skipped)
	}
}

// Thousands of repositories are reported in sum.
func TestCoverageOfManyRepositories(t *testing.T) {
	var files []doc
	for i := range 300 {
		files = append(files, doc{repo: fmt.Sprint("r", i), path: "f", text: "yak"})
	}
	files[7].text = "ox"
	c := newCorpus(t, 1000, nil, files)
	tr := &report.Trace{}
	c.search(t, search.Settings{}, search.Options{Trace: tr}, "ox count:all", query.Keyword)
	all, rest := tr.Coverage()
	at := slices.IndexFunc(all, func(c report.Coverage) bool { return c.Repository == "r7" })
	// 28 have a document that is always scanned, twenty others are reported.
	if len(all) != 48 || rest.Repositories != 252 || rest.Documents != 252 || at < 0 || at >= 28 || all[at].Candidates != 1 {
		t.Errorf("%d revisions and %+v, r7 at %d; want 48, 252 with 252 documents, and r7 with a candidate among the first", len(all), rest, at)
	}
}

// An answer without results says what was not looked at, and one with results
// leaves documents without text to the trace.
func TestNothingFoundTellsWhatWasNotSearched(t *testing.T) {
	c := coverageCorpus(t, vfs.NewMem())
	defer c.close(t)
	for _, tt := range []struct{ query, want string }{
		{"repo:one qqqq", "content-unsearchable 1 file without text: 1 too-large"},
		{"repo:two qqqq", ""},
		{"repo:two file:sub qqqq", "content-unsearchable 1 file without text: 1 submodule"},
		{"repo:one file:png qqqq", "content-unsearchable 1 file without text: 1 binary"},
		{`repo:one file:\.go$ qqqq`, ""},
		{"repo:one type:path qqqq", ""},
		{"repo:nosuch qqqq", ""},
		{"repo:one ox", ""},
		{"repo:one type:file (qqqq or zzzz)", "content-unsearchable 1 file without text: 1 too-large"},
	} {
		a := c.search(t, search.Settings{}, search.Options{}, tt.query, query.Keyword)
		var got []string
		for _, s := range a.results.Progress().Skipped {
			_, counts, _ := strings.Cut(s.Message, ": ")
			counts, _, _ = strings.Cut(counts, ".")
			got = append(got, s.Reason+" "+s.Title+": "+counts)
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: skipped %q, want %q", tt.query, got, tt.want)
		}
	}
}

// Counting does not depend on how many count, and nothing is counted twice.
func TestCoverageOracle(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 9))
		c := randomCorpus(t, rng)
		alive, unsearchable := map[string]int{}, map[string]int{}
		for _, f := range c.files {
			if !f.dead {
				alive[f.repo]++
				if f.reason != shard.Searchable {
					unsearchable[f.repo]++
				}
			}
		}
		for range 20 {
			text := randomQuery(rng) + " count:all"
			q, err := syntax.Parse(text, query.Keyword)
			if err != nil {
				t.Fatal(err)
			}
			var reported []string
			for _, workers := range []int{1, 4} {
				tr := &report.Trace{}
				search.New(c.st, search.Settings{Workers: workers}).Search(context.Background(), q,
					search.Options{Display: -1, Trace: tr, Report: report.New(time.Now)}, answer.SinkFunc(func([]query.Match) error { return nil }))
				reported = append(reported, tellCoverage(tr))
				all, _ := tr.Coverage()
				for _, r := range all {
					left := 0
					for _, u := range r.Unsearched {
						left += u.Documents
					}
					if r.Documents != alive[r.Repository] || left != unsearchable[r.Repository] || r.Candidates != r.Verified {
						t.Fatalf("seed %d, %q: got %s, want %d documents, %d of them without text", seed, text, tellCoverage(tr), alive[r.Repository], unsearchable[r.Repository])
					}
				}
			}
			if reported[0] != reported[1] {
				t.Fatalf("seed %d, %q: one worker counts\n%s\nfour\n%s", seed, text, reported[0], reported[1])
			}
		}
	}
}
