package search_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store/ingest"
)

// reported searches and returns the matches in lines, sorted, and then the reasons
// and titles of what was skipped and the title of the alert.
func (c *corpus) reported(t testing.TB, text string) string {
	t.Helper()
	a := c.search(t, search.Settings{MaxTimeout: 10 * time.Minute}, search.Options{}, text, query.Keyword)
	var out []string
	for _, m := range a.matches {
		out = append(out, tellMatch(m))
	}
	slices.Sort(out)
	for _, s := range a.results.Progress().Skipped {
		out = append(out, s.Reason+": "+s.Title)
	}
	if a.outcome.Alert != nil {
		out = append(out, a.outcome.Alert.Title)
	}
	return strings.Join(out, "\n")
}

// A repository of many refs is searched at some of them, and at all of them
// without more work than there are commits.
func TestManyRefs(t *testing.T) {
	g := &gitHistory{}
	for i := range 4 {
		mark := g.commit(tree{"a.txt": fmt.Sprintf("kiln %d\n", i)}, nil, fmt.Sprint("refs/heads/b", i))
		for n := range 2500 {
			g.ref(fmt.Sprintf("refs/tags/t%d-%04d", i, n), mark)
		}
		if i == 0 {
			g.ref("refs/heads/main", mark)
		}
	}
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: g.write(t)}})
	if got, want := c.reported(t, "repo:r@refs/tags/t3-2499 kiln"), `content r@refs/tags/t3-2499 a.txt 1:"kiln"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a := c.search(t, search.Settings{MaxTimeout: 10 * time.Minute}, search.Options{}, "repo:r@*refs/tags/* type:file kiln count:all", query.Keyword)
	if len(a.matches) != 10_000 {
		t.Errorf("at every tag: got %d matches, want 10000", len(a.matches))
	}
	if a := c.search(t, search.Settings{}, search.Options{}, "repo:r@*refs/tags/t?-000[01] type:file kiln", query.Keyword); len(a.matches) != 8 {
		t.Errorf("at some tags: got %d matches, want 8", len(a.matches))
	}
}

// More commits than one search can list are left out, and reported.
func TestManyCommits(t *testing.T) {
	g := &gitHistory{}
	for i := range 1010 {
		g.commit(tree{"a.txt": fmt.Sprintf("kiln %d\n", i)}, nil, fmt.Sprintf("refs/tags/t%04d", i))
	}
	g.commit(tree{"a.txt": "kiln\n"}, nil, "refs/heads/main")
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: g.write(t)}})
	a := c.search(t, search.Settings{MaxTimeout: 10 * time.Minute}, search.Options{}, "repo:r@*refs/tags/* type:file kiln count:all", query.Keyword)
	skipped := a.results.Progress().Skipped
	if n := len(a.matches); n < 1000 || n > 1005 || len(skipped) != 1 || skipped[0].Reason != "revision-limit" {
		t.Errorf("got %d matches and %+v, want some 1000 and the rest reported", n, skipped)
	}
}

// What a shallow clone lacks, what was lost and what is no file is reported, and
// nothing else suffers.
func TestDamagedRevisions(t *testing.T) {
	g := &gitHistory{}
	old := g.commit(tree{"old.txt": "kiln old\n", "lost.txt": "kiln lost\n", "same.txt": "kiln\n"}, nil, "refs/tags/old")
	g.commit(tree{"a.txt": "kiln a\n", "same.txt": "kiln\n"}, []string{old}, "refs/heads/main")
	g.commit(tree{"dir/b.txt": "kiln b\n"}, nil, "refs/tags/gone")
	parent := g.commit(tree{"b.txt": "kiln b\n"}, nil)
	g.commit(tree{"c.txt": "kiln c\n"}, []string{parent}, "refs/tags/child")
	dir := g.write(t) // so small that its objects are files each
	lose := func(name string) {
		t.Helper()
		oid := runGit(t, dir, "", "rev-parse", name)
		if err := os.Remove(filepath.Join(dir, "objects", oid[:2], oid[2:])); err != nil {
			t.Fatal(err)
		}
	}
	lose("old:lost.txt")
	lose("gone:dir")
	lose("child~1")
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: dir}})
	for _, tt := range []struct{ query, want string }{
		// The path of a file without content is still found.
		{"repo:r@old kiln", "content r@old old.txt 1:\"kiln\"\ncontent r@old same.txt 1:\"kiln\"\nobjects-missing: 1 file unreadable"},
		{"repo:r@old file:lost", "path r@old lost.txt path \"lost\"\nobjects-missing: 1 file unreadable"},
		{"repo:r@old file:same kiln", `content r@old same.txt 1:"kiln" path "same"`},
		// A tree that is gone takes its revision with it.
		{"repo:r@gone kiln", "revision-unreadable: 1 unreadable"},
		{"repo:r@gone:main type:file kiln", "content r@main a.txt 1:\"kiln\"\ncontent r@main same.txt 1:\"kiln\"\nrevision-unreadable: 1 unreadable"},
		{"repo:r@child kiln", `content r@child c.txt 1:"kiln"`},
		{"repo:r@child~1 kiln", "Some repositories could not be searched"},
	} {
		if got := c.reported(t, tt.query); got != tt.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", tt.query, got, tt.want)
		}
	}

	// A source that is gone is reported, and what is indexed of it is searched.
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.reported(t, "repo:r@main:HEAD~1 file:a kiln"), "content r@main a.txt 1:\"kiln\" path \"a\"\ncontent r@main same.txt 1:\"kiln\" path \"a\"\nrepository-missing: 1 missing"; got != want {
		t.Errorf("without its source:\ngot\n%s\nwant\n%s", got, want)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	if got, want := c.reported(t, "repo:r@child kiln"), `content r@child c.txt 1:"kiln"`; got != want {
		t.Errorf("with its source again: got %s, want %s", got, want)
	}
}

func TestShallowClone(t *testing.T) {
	g := &gitHistory{}
	first := g.commit(tree{"a.txt": "kiln one\n"}, nil, "refs/tags/v1")
	g.commit(tree{"a.txt": "kiln two\n"}, []string{first}, "refs/heads/main")
	from := g.write(t)
	dir := filepath.Join(t.TempDir(), "shallow.git")
	cmd := exec.Command("git", "clone", "-q", "--bare", "--depth=1", "file://"+from, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: dir}})
	for text, want := range map[string]string{
		"repo:r@main type:file kiln":                          `content r@main a.txt 1:"kiln"`,
		"repo:r@main~1 kiln":                                  "Some repositories could not be searched",
		"repo:r rev:at.time(2001-09-09T02:05:00Z) kiln":       "",
		"repo:r rev:at.time(2020-01-01) type:file index:only": "revision-not-indexed: 1 not indexed",
	} {
		if got := c.reported(t, text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// Submodules, symbolic links and modes are what they are in an index.
func TestOddFilesOfRevisions(t *testing.T) {
	g := &gitHistory{}
	g.commit(tree{"a.txt": "kiln\n"}, nil, "refs/heads/main")
	dir := g.write(t)
	blob := runGit(t, dir, "kiln\n", "hash-object", "-w", "--stdin")
	link := runGit(t, dir, "kiln/target", "hash-object", "-w", "--stdin")
	commit := runGit(t, dir, "", "rev-parse", "main")
	entries := fmt.Sprintf("160000 commit %s\tmodule\n120000 blob %s\tlink\n100755 blob %s\ta.txt\n100644 blob %s\tspace in name\n", commit, link, blob, blob)
	tree := runGit(t, dir, entries, "mktree")
	odd := runGit(t, dir, "odd\n", "commit-tree", tree)
	runGit(t, dir, "", "update-ref", "refs/heads/odd", odd)
	repos := []*gitRepo{{name: "r", dir: dir}}
	through, indexed := revisionCorpus(t, repos), revisionCorpus(t, repos, "odd")
	for _, text := range []string{"repo:r@odd kiln", "repo:r@odd type:path module", "repo:r@odd file:.", "repo:r@odd module or link", "repo:r@odd index:no kiln",
		"repo:r@odd type:file not kiln", "repo:r@odd repo:has.path(module) space"} {
		got, want := through.reported(t, text), indexed.reported(t, text)
		if got != want || got == "" {
			t.Errorf("%s: through git and from the index differ or find nothing:\n%s\n\n%s", text, got, want)
		}
	}
}

// Text of a revision that the index knows from a generation before is not read
// through git again.
func TestDeadDocumentsServeRevisions(t *testing.T) {
	g := &gitHistory{}
	old := g.commit(tree{"a.txt": "kiln old\n", "keep.txt": "keep\n"}, nil, "refs/heads/main", "refs/tags/old")
	dir := g.write(t)
	repos := []*gitRepo{{name: "r", dir: dir}}
	c := revisionCorpus(t, repos)
	more := &gitHistory{marks: 10, when: 5000}
	more.commit(tree{"a.txt": "kiln new\n", "keep.txt": "keep\n"}, nil, "refs/heads/main")
	runGit(t, dir, more.stream.String(), "fast-import", "--quiet", "--force")
	ix := ingest.New(c.st, ingest.Options{MinFreeBytes: -1, ShardBlocks: 40})
	if _, err := ix.Sync(context.Background(), "r", nil); err != nil {
		t.Fatal(err)
	}
	trace := &report.Trace{}
	a := c.search(t, search.Settings{}, search.Options{Trace: trace}, "repo:r@old kiln", query.Keyword)
	if got := fmt.Sprint(a.lines()); got != `[content r@old "a.txt" 0-4]` {
		t.Errorf("got %s, want the old file (%s)", got, old)
	}
	for _, s := range trace.Steps() {
		if strings.HasPrefix(s.Name, "read files") {
			t.Errorf("got step %q: the old text is still in its shard", s.Name)
		}
	}
	if got, want := c.reported(t, "repo:r type:file kiln"), `content r a.txt 1:"kiln"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Time that runs out over git ends a search like any other, and leaves no
// process behind.
func TestRevisionsTimeOut(t *testing.T) {
	g := &gitHistory{}
	g.commit(tree{"a.txt": "kiln\n"}, nil, "refs/tags/v1")
	g.commit(tree{"a.txt": "kiln 2\n"}, nil, "refs/heads/main")
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: g.write(t)}})
	if got, want := c.reported(t, "repo:r@v1 timeout:1us kiln"), "shard-timeout: 1 timed out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, timeout := range []time.Duration{2, 4, 8, 16, 32} {
		a := c.search(t, search.Settings{}, search.Options{}, fmt.Sprintf("repo:r@v1 timeout:%dms type:file kiln", timeout), query.Keyword)
		skipped := a.results.Progress().Skipped
		if found := len(a.matches) == 1; found == (len(skipped) == 1) {
			t.Errorf("%d ms: got %d matches and %+v, want either", timeout, len(a.matches), skipped)
		}
	}
}

// Files read side by side come in one order, whatever the number of readers,
// and a search that has enough of them stops.
func TestReadersKeepTheOrder(t *testing.T) {
	g := &gitHistory{}
	files := tree{}
	for i := range 2100 {
		files[fmt.Sprintf("d%d/f%04d.txt", i%7, i)] = strings.Repeat("clay\n", i%50) + fmt.Sprintf("kiln %d\n", i%3)
	}
	g.commit(files, nil, "refs/tags/v1")
	g.commit(tree{"a.txt": "kiln\n"}, nil, "refs/heads/main")
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: g.write(t)}})
	const text = `repo:r@v1 "kiln 1"`
	want := c.search(t, search.Settings{Workers: 1}, search.Options{}, text, query.Keyword).full()
	if len(want) != 700 {
		t.Fatalf("got %d matches, want 700", len(want))
	}
	for workers := 2; workers < 6; workers++ {
		got := c.search(t, search.Settings{Workers: workers}, search.Options{}, text, query.Keyword).full()
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: %s", workers, firstDifference(got, want))
		}
		got = c.search(t, search.Settings{Workers: workers}, search.Options{}, text+" count:3", query.Keyword).full()
		if len(got) != 3 {
			t.Errorf("%d workers and count:3: got %d matches", workers, len(got))
		}
	}
	if got, want := c.reported(t, "repo:r@v1 repo:has.content(kiln.2) type:repo"), `repo r@v1 "r"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A tree that stands for ten to the tenth files is reported instead of listed.
func TestTreeBombRevision(t *testing.T) {
	g := &gitHistory{}
	g.commit(tree{"a.txt": "kiln\n"}, nil, "refs/heads/main")
	dir := g.write(t)
	below := runGit(t, dir, "", "rev-parse", "main^{tree}")
	for range 10 {
		var entries strings.Builder
		for i := range 10 {
			fmt.Fprintf(&entries, "040000 tree %s\t%d%s\n", below, i, strings.Repeat("d", 60_000))
		}
		below = runGit(t, dir, entries.String(), "mktree")
	}
	runGit(t, dir, "", "update-ref", "refs/heads/bomb", runGit(t, dir, "bomb\n", "commit-tree", below))
	c := revisionCorpus(t, []*gitRepo{{name: "r", dir: dir}})
	if got := c.reported(t, "repo:r@bomb kiln timeout:10m"); !strings.HasPrefix(got, "revision-") || strings.Contains(got, "\n") {
		t.Errorf("got %s, want why nothing was searched", got)
	}
	if got, want := c.reported(t, "repo:r@bomb:main type:file kiln timeout:10m"), "content r@main a.txt 1:\"kiln\""; !strings.Contains(got, want) {
		t.Errorf("beside another revision: got %s, want %s", got, want)
	}
}

// The time of a search ends it while hundreds of alternatives, each with filters
// of its own, are still being planned.
func TestPlanningEndsInTime(t *testing.T) {
	var files []doc
	for i := range 400 {
		files = append(files, doc{repo: "r", path: fmt.Sprintf("d%d/f%d.txt", i%7, i), text: "clay kiln glaze ash\n", indexed: true})
	}
	c := newCorpus(t, 200, nil, files)
	var parts []string
	for i := range 300 {
		parts = append(parts, fmt.Sprintf("(kiln clay%d file:d%d file:%d)", i, i%7, i%10))
	}
	trace := &report.Trace{}
	a := c.search(t, search.Settings{Workers: 1, DefaultTimeout: time.Nanosecond}, search.Options{Trace: trace}, strings.Join(parts, " or "), query.Keyword)
	skipped := a.results.Progress().Skipped
	if a.outcome.Err != nil || len(skipped) != 1 || skipped[0].Reason != "shard-timeout" {
		t.Errorf("got %+v and %v, want shard-timeout", skipped, a.outcome.Err)
	}
	for _, s := range trace.Steps() {
		if strings.HasPrefix(s.Name, "plan shard") || strings.Contains(s.Name, "unreadable") {
			t.Errorf("after its time: step %q", s.Name)
		}
	}
}
