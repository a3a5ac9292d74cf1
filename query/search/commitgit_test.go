package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
	"github.com/trawlsearch/trawl/query/search/report"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/ingest"
)

// loggedRepo is a repository made by the git binary.
type loggedRepo struct {
	t   testing.TB
	dir string
}

// git runs git and returns what it wrote, without white space around.
func (r loggedRepo) git(input string, args ...string) string {
	r.t.Helper()
	return gitrepo.Run(r.t, r.dir, nil, input, args...)
}

// log returns the commits that git log prints.
func (r loggedRepo) log(args ...string) []string {
	r.t.Helper()
	return strings.Fields(r.git("", append([]string{"log", "--format=%H"}, args...)...))
}

// grownRepo makes a repository of n commits by git fast-import, with merges,
// renames and removals.
func grownRepo(t testing.TB, rng *rand.Rand, n int) loggedRepo {
	t.Helper()
	r := loggedRepo{t, filepath.Join(t.TempDir(), "repo")}
	gitrepo.New(t, r.dir)
	var b strings.Builder
	data := func(s string) { fmt.Fprintf(&b, "data %d\n%s\n", len(s), s) }
	words := func(n int) string {
		var out []string
		for range n {
			out = append(out, []string{"glaze", "Kiln", "fire", "slip", "salt", "ash"}[rng.IntN(6)])
		}
		return strings.Join(out, " ")
	}
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "commit refs/heads/main\nmark :%d\n", i)
		who := []string{"Ada <ada@example.org>", "Bo <bo@example.org>", "Ada M <old@example.org>"}[rng.IntN(3)]
		fmt.Fprintf(&b, "author %s %d +0100\ncommitter Co <co@example.org> %d -0330\n", who, 1_600_000_000+i*100, 1_600_000_000+i*100)
		data(words(3) + "\n\n" + words(5) + "\n" + words(2))
		if i > 1 {
			fmt.Fprintf(&b, "from :%d\n", i-1)
		}
		if i > 5 && rng.IntN(10) == 0 {
			fmt.Fprintf(&b, "merge :%d\n", i-3)
		}
		for range 1 + rng.IntN(2) {
			name := fmt.Sprintf("%s/f%d.%s", []string{"src", "doc"}[rng.IntN(2)], rng.IntN(6), []string{"go", "md"}[rng.IntN(2)])
			switch rng.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "D %s\n", name)
			default:
				fmt.Fprintf(&b, "M 100644 inline %s\n", name)
				var lines []string
				for k := range 6 {
					lines = append(lines, fmt.Sprint(k, " ", words(1+rng.IntN(3))))
				}
				data(strings.Join(lines, "\n"))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("done\n")
	r.git(b.String(), "fast-import", "--quiet", "--done")
	return r
}

// indexed syncs the repository and reads its history as the options say.
func (r loggedRepo) indexed(t testing.TB, o ingest.Options) *corpus {
	t.Helper()
	st, err := store.Open(filepath.Join(t.TempDir(), "data"), store.Options{CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c := &corpus{st: st}
	t.Cleanup(func() { c.close(t) })
	o.MinFreeBytes = -1
	c.syncFrom(t, r, o, true)
	return c
}

func (c *corpus) syncFrom(t testing.TB, r loggedRepo, o ingest.Options, history bool) {
	t.Helper()
	o.MinFreeBytes = -1
	ix := ingest.New(c.st, o)
	if _, err := ix.Add(context.Background(), ingest.Source{Name: "r", Location: r.dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Sync(context.Background(), "r", nil); err != nil {
		t.Fatal(err)
	}
	if !history {
		return
	}
	if res, err := ix.Histories.Read(context.Background(), nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("History: %v, failed %q", err, res.Failed)
	}
}

// TestCommitsAgainstGit compares answers with those of git log, whatever part
// of the history is in the index.
func TestCommitsAgainstGit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	r := grownRepo(t, rng, 150)
	mailmap := "Ada <ada@example.org> <old@example.org>\n"
	r.git("", "checkout", "-q", "-f", "main")
	if err := os.WriteFile(filepath.Join(r.dir, ".mailmap"), []byte(mailmap), 0o644); err != nil {
		t.Fatal(err)
	}
	r.git("", "add", ".mailmap")
	r.git("", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "mailmap")
	tests := []struct {
		query string
		args  []string
	}{
		{"type:commit glaze", []string{"-i", "-E", "--grep=glaze"}},
		{"type:commit /glaze (kiln|slip)/", []string{"-i", "-E", "--grep=glaze (kiln|slip)"}},
		{"type:commit glaze case:yes", []string{"--grep=glaze"}},
		{"type:commit Kiln salt", []string{"-i", "--all-match", "--grep=kiln", "--grep=salt"}},
		{"type:commit not ash", []string{"-i", "--invert-grep", "--grep=ash"}},
		{"type:commit", nil},
		{"type:commit author:ada slip", []string{"-i", "--author=ada", "--grep=slip", "--all-match"}},
		{"type:commit author:old@", []string{"--author=old@"}},
		{"type:commit after:1600005000 before:1600009000", []string{"--after=@1600005001", "--before=@1600008999"}},
		{"type:commit file:^src/ fire", []string{"-i", "--grep=fire", "--no-renames", "--full-history", "--no-merges", "--", "src/"}},
		{"type:diff glaze", []string{"-i", "-G", "glaze"}},
		{"type:diff /glaze.*ash/", []string{"-i", "-E", "-G", "glaze.*ash"}},
		{"type:diff /^3 fire/ case:yes", []string{"-G", "^3 fire"}},
		{"type:diff author:bo salt", []string{"--author=bo", "-i", "-G", "salt"}},
		{"type:diff file:^doc/ kiln", []string{"-i", "-G", "kiln", "--full-history", "--", "doc/"}},
		{"type:diff glaze message:slip", []string{"-i", "-G", "glaze", "--grep=slip"}},
		{"type:diff", []string{"--no-merges"}},
		{"type:diff nothinglikethis", []string{"-G", "nothinglikethis"}},
	}
	want := make([][]string, len(tests))
	for i, test := range tests {
		want[i] = r.log(test.args...)
	}
	emptyCommits := r.log("--no-merges", "--diff-filter=ADMR", "--raw", "-M")
	for _, o := range []struct {
		name    string
		opts    ingest.Options
		history bool
	}{
		{"all", ingest.Options{HistoryDiffs: ingest.AllHistory}, true},
		{"some diffs", ingest.Options{HistoryDiffs: 40, ShardBlocks: 100}, true},
		{"no diffs", ingest.Options{HistoryDiffs: -1}, true},
		{"some messages", ingest.Options{HistoryCommits: 70, HistoryDiffs: 30}, true},
		{"none", ingest.Options{HistoryCommits: -1}, true},
		{"not read yet", ingest.Options{}, false},
	} {
		t.Run(o.name, func(t *testing.T) {
			c := &corpus{}
			var err error
			if c.st, err = store.Open(filepath.Join(t.TempDir(), "data"), store.Options{CacheBytes: 8 << 20}); err != nil {
				t.Fatal(err)
			}
			defer c.close(t)
			c.syncFrom(t, r, o.opts, o.history)
			for i, test := range tests {
				a := c.search(t, search.Settings{}, search.Options{}, test.query+" count:all", query.Keyword)
				oids, _ := commitLines(a)
				expected := want[i]
				if test.query == "type:diff" {
					// Commits that change nothing have no diff.
					expected = slices.DeleteFunc(slices.Clone(expected), func(oid string) bool { return !slices.Contains(emptyCommits, oid) })
				}
				if !slices.Equal(oids, expected) {
					t.Errorf("%q: %d commits, git log %q has %d\n%s", test.query, len(oids), test.args, len(expected), firstDifference(oids, expected))
				}
				p := a.results.Progress()
				p.Skipped = slices.DeleteFunc(p.Skipped, func(s query.Skipped) bool { return s.Reason == "preview-shortened" })
				if len(p.Skipped) > 0 || len(oids) > 0 && !a.results.Filters()[0].Exhaustive {
					t.Errorf("%q: skipped %+v", test.query, p.Skipped)
				}
			}
		})
	}
}

// TestHistoryIsReportedIncomplete: what git does not list in time is counted.
func TestHistoryIsReportedIncomplete(t *testing.T) {
	r := grownRepo(t, rand.New(rand.NewPCG(4, 4)), 3000)
	c := r.indexed(t, ingest.Options{HistoryDiffs: 5})
	a := c.try(context.Background(), t, search.Settings{MaxTimeout: time.Minute}, search.Options{Display: -1}, "type:diff nothinglikethis timeout:60ms", nil)
	reasons := a.reasons()
	// A slow machine may be late for what is in the index already.
	late := strings.Contains(reasons, "shard-timeout")
	if !strings.Contains(reasons, "history-depth") && !late || exhaustive(a) || a.outcome.Alert == nil && !late {
		t.Errorf("an unfinished search of diffs tells %q, alert %v", reasons, a.outcome.Alert)
	}
	for _, s := range a.results.Progress().Skipped {
		if s.Reason == "history-depth" && (!strings.Contains(s.Title, "commits not searched") || s.SuggestedQuery != "timeout:1m0s") {
			t.Errorf("skipped %+v, want a number of commits and timeout:1m0s", s)
		}
	}
	// The limit ends the search before it comes to them.
	a = c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, "type:diff count:2", nil)
	if got := a.reasons(); got != "shard-match-limit count:1000, preview-shortened" {
		t.Errorf("a search that found enough tells %q, want shard-match-limit count:1000 and preview-shortened", got)
	}
	if err := os.Rename(r.dir, r.dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	a = c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, "type:diff glaze", nil)
	if got := a.reasons(); got != "history-unreadable, preview-shortened" || exhaustive(a) {
		t.Errorf("a search whose source is gone tells %q, want history-unreadable and preview-shortened", got)
	}
	a = c.try(context.Background(), t, search.Settings{}, search.Options{Display: -1}, "type:commit glaze count:all", nil)
	if got := a.reasons(); got != "" || len(a.matches) == 0 {
		t.Errorf("messages are all in the index, but the search tells %q of %d", got, len(a.matches))
	}
}

// TestCommitsOfRevisions compares with git log of the same revisions.
func TestCommitsOfRevisions(t *testing.T) {
	r := grownRepo(t, rand.New(rand.NewPCG(5, 5)), 60)
	tip := r.git("", "rev-parse", "main")
	r.git("", "checkout", "-q", "-f", "-b", "side", "main~20")
	for i := range 3 {
		r.git("", "-c", "user.name=Side", "-c", "user.email=s@example.org", "commit", "-q", "--allow-empty", "-m", fmt.Sprint("glaze aside ", i))
	}
	r.git("", "checkout", "-q", "-f", "main")
	for _, history := range []bool{true, false} {
		c := r.indexed(t, ingest.Options{HistoryDiffs: 15})
		if !history {
			c = &corpus{}
			var err error
			if c.st, err = store.Open(filepath.Join(t.TempDir(), "data"), store.Options{CacheBytes: 8 << 20}); err != nil {
				t.Fatal(err)
			}
			defer c.close(t)
			c.syncFrom(t, r, ingest.Options{}, false)
		}
		for _, test := range []struct {
			query string
			args  []string
		}{
			{"repo:r@side type:commit glaze", []string{"-i", "--grep=glaze", "side"}},
			{"repo:r@main:side type:commit glaze", []string{"-i", "--grep=glaze", "main", "side"}},
			{"repo:r@side:^main type:commit", []string{"side", "^main"}},
			{"repo:r@^side type:diff kiln", []string{"-i", "-G", "kiln", "main", "^side"}},
			{"repo:r@" + tip[:8] + " type:diff kiln", []string{"-i", "-G", "kiln", tip}},
			{"repo:r@main~30 type:diff kiln", []string{"-i", "-G", "kiln", "main~30"}},
			{"repo:r@*refs/heads/* type:commit slip", []string{"-i", "--grep=slip", "--branches"}},
			{"repo:r type:diff kiln index:no", []string{"-i", "-G", "kiln"}},
		} {
			oids, _ := commitLines(c.search(t, search.Settings{}, search.Options{}, test.query+" count:all", query.Keyword))
			slices.Sort(oids) // of commits of the same second any may come first
			want := r.log(test.args...)
			slices.Sort(want)
			if !slices.Equal(oids, want) {
				t.Errorf("%q (history read: %t): %d commits, git log %q has %d\n%s", test.query, history, len(oids), test.args, len(want), firstDifference(oids, want))
			}
		}
		if a := c.search(t, search.Settings{}, search.Options{}, "repo:r type:diff kiln index:only count:all", query.Keyword); history && len(a.matches) > 15 {
			t.Errorf("index:only finds %d commits, 15 have their diffs in the index", len(a.matches))
		}
		if a := c.search(t, search.Settings{}, search.Options{}, "repo:r@nosuch type:commit glaze", query.Keyword); a.outcome.Alert == nil || len(a.matches) > 0 {
			t.Errorf("a revision that is not there: %d commits, alert %v", len(a.matches), a.outcome.Alert)
		}
	}
}

// What a limit keeps a search from coming to is not asked of git: repositories whose
// history is not read yet may be thousands.
func TestLimitsSpareGit(t *testing.T) {
	kept := grownRepo(t, rand.New(rand.NewPCG(8, 8)), 20)
	c := kept.indexed(t, ingest.Options{HistoryDiffs: ingest.AllHistory})
	unread := grownRepo(t, rand.New(rand.NewPCG(9, 9)), 20)
	ix := ingest.New(c.st, ingest.Options{MinFreeBytes: -1})
	stars := 5
	for _, err := range []error{
		second(c.st.Repositories().ChangeFacts("r", store.FactsChange{Stars: &stars})), // the first
		second(ix.Add(t.Context(), ingest.Source{Name: "unread", Location: unread.dir})), second(ix.Sync(t.Context(), "unread", nil)), os.RemoveAll(unread.dir),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]bool{"type:commit count:3": false, "type:diff count:3": false, "type:commit count:all": true, "type:commit count:21": true} {
		tr := &report.Trace{}
		a := c.try(t.Context(), t, search.Settings{}, search.Options{Display: -1, Trace: tr}, text, nil)
		if asked := strings.Contains(a.reasons(), "history-unreadable"); asked != want {
			t.Errorf("%q: git was asked about what the index lacks: %t, want %t (reasons %q)", text, asked, want, a.reasons())
		}
		rows, rest := tr.Coverage()
		if len(rows) != 2 || rest.Repositories != 0 || rows[1].Repository != "unread" || len(rows[1].Unsearched) == 0 {
			t.Errorf("%q: the coverage is %+v and %+v; want two repositories, of the second what was not searched", text, rows, rest)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestDiffsByContentAndOwner looks at whole files, and at who owns them.
func TestDiffsByContentAndOwner(t *testing.T) {
	r := loggedRepo{t, filepath.Join(t.TempDir(), "repo")}
	gitrepo.New(t, r.dir)
	commit := func(message string, files map[string]string) {
		t.Helper()
		for name, content := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r.git("", "add", "-A")
		r.git("", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", message)
	}
	commit("one", map[string]string{"CODEOWNERS": "/mine/ @me\n", "mine/a": "head\nfire\n", "yours/b": "fire\n"})
	commit("two", map[string]string{"mine/a": "head\nfire\nfire again\n"})
	commit("three", map[string]string{"yours/b": "fire\nfire again\nhead\n"})
	for _, o := range []ingest.Options{{}, {HistoryDiffs: -1}} {
		c := r.indexed(t, o)
		for q, want := range map[string]string{
			"type:diff again":                                       "three two",
			"type:diff again file:has.content(head)":                "three two",
			"type:diff fire file:has.content(^head)":                "three two one",
			`type:diff fire file:has.content(\Ahead)`:               "two one",
			"type:commit one file:has.content(head)":                "",
			"type:diff again file:has.owner(me)":                    "two",
			"type:diff again -file:has.owner(me)":                   "three",
			"type:commit file:has.owner(@me)":                       "two one",
			"type:diff again file:has.contributor(a)":               "",
			"type:file fire file:has.contributor(^A$)":              "mine/a yours/b",
			"type:file fire -file:has.contributor(nobody)":          "mine/a yours/b",
			"type:file fire file:has.contributor(a@exampl)":         "mine/a yours/b",
			"type:file fire file:has.contributor(nobody)":           "",
			"type:file fire case:yes file:has.contributor(EXAMPLE)": "",
			"type:file fire repo:has.commit.after(2000-01-01)":      "mine/a yours/b",
			"type:file fire -repo:has.commit.after(2000-01-01)":     "",
			"type:file fire repohascommitafter:tomorrow":            "",
			"type:file fire repo:contains.commit.after(yesterday)":  "mine/a yours/b",
		} {
			var got []string
			for _, m := range c.search(t, search.Settings{}, search.Options{}, q, query.Keyword).matches {
				switch m := m.(type) {
				case *query.CommitMatch:
					got = append(got, m.Message)
				case *query.FileMatch:
					got = append(got, m.Path)
				}
			}
			if strings.HasPrefix(q, "type:file") {
				slices.Sort(got)
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("%q with %d diffs kept: got %q, want %q", q, o.HistoryDiffs, s, want)
			}
		}
	}
}

// TestContributorsAgainstGit compares with the paths of git log.
func TestContributorsAgainstGit(t *testing.T) {
	r := grownRepo(t, rand.New(rand.NewPCG(6, 6)), 80)
	for _, o := range []ingest.Options{{}, {HistoryCommits: 30}, {HistoryCommits: -1}} {
		c := r.indexed(t, o)
		for _, rev := range []string{"main", "main~40"} {
			touched := map[string]bool{}
			for _, path := range strings.Fields(r.git("", "log", "--format=", "--name-only", "--no-renames", "--author=^Bo", rev)) {
				touched[path] = true
			}
			var want []string
			for _, path := range strings.Fields(r.git("", "ls-tree", "-r", "--name-only", rev)) {
				if touched[path] {
					want = append(want, path)
				}
			}
			var got []string
			for _, m := range c.search(t, search.Settings{}, search.Options{}, "repo:r@"+rev+" file:has.contributor(^Bo) count:all", query.Keyword).matches {
				got = append(got, m.(*query.FileMatch).Path)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("files of %s by Bo, %d commits kept\n got %q\nwant %q", rev, o.HistoryCommits, got, want)
			}
		}
	}
}

// TestTimesByRecord: the commit of a time is the one that git tells, and git is not asked where
// nothing of a repository is newer.
func TestTimesByRecord(t *testing.T) {
	r := grownRepo(t, rand.New(rand.NewPCG(5, 5)), 30)
	known, unknown := r.indexed(t, ingest.Options{}), &corpus{}
	unknown.open(t, vfs.NewMem())
	t.Cleanup(func() { unknown.close(t) })
	unknown.syncFrom(t, r, ingest.Options{}, false)
	var dates []int64
	for _, line := range strings.Fields(r.git("", "log", "--format=%ct", "main")) {
		seconds, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		dates = append(dates, seconds)
	}
	newest := slices.Max(dates)
	at := func(seconds int64, base string) string {
		return fmt.Sprintf("repo:r rev:at.time(%s,%s) file:. count:all", time.Unix(seconds, 0).UTC().Format(time.RFC3339), base)
	}
	for _, seconds := range []int64{newest + 1e9, newest, newest - 1, dates[len(dates)/2], slices.Min(dates) - 1} {
		for _, base := range []string{"HEAD", "main", "main~2"} {
			if got, want := known.reported(t, at(seconds, base)), unknown.reported(t, at(seconds, base)); got != want {
				t.Errorf("%s: by the record\n%s\nby git\n%s", at(seconds, base), got, want)
			} else if found := strings.Contains(got, "path"); found != (seconds >= slices.Min(dates)) {
				t.Errorf("%s: files were found: %t", at(seconds, base), found)
			}
		}
	}
	empty := gitrepo.New(t, t.TempDir())
	for _, c := range []*corpus{known, unknown} {
		ix := ingest.New(c.st, ingest.Options{MinFreeBytes: -1})
		if err := errors.Join(second(ix.Add(t.Context(), ingest.Source{Name: "empty", Location: empty.Dir})), second(ix.Sync(t.Context(), "empty", nil))); err != nil {
			t.Fatal(err)
		}
	}
	const atEmpty = "repo:empty rev:at.time(2020-01-01) kiln"
	if got, byGit := known.reported(t, atEmpty), unknown.reported(t, atEmpty+" index:no"); got != byGit || !strings.Contains(got, "could not be searched") {
		t.Errorf("of a repository without commits: by the record %q, by git %q", got, byGit)
	}
	for _, text := range []string{at(newest, "HEAD") + " index:only", at(newest, "HEAD") + " index:no"} {
		trace := &report.Trace{}
		known.search(t, search.Settings{}, search.Options{Trace: trace}, text, query.Keyword)
		if n := countStep(trace, "plan shard"); n > 0 || known.reported(t, text) != unknown.reported(t, text) {
			t.Errorf("%s: %d shards were searched, and by the record\n%s\nby git\n%s", text, n, known.reported(t, text), unknown.reported(t, text))
		}
	}
	old := known.reported(t, at(newest, "HEAD"))
	r.git("", "checkout", "-q", "-f", "main")
	if err := os.WriteFile(filepath.Join(r.dir, "pushed.txt"), []byte("kiln\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.git("", "add", "pushed.txt")
	r.git("", "commit", "-q", "-m", "pushed")
	pushed, err := strconv.ParseInt(r.git("", "log", "-1", "--format=%ct"), 10, 64)
	if err != nil || pushed <= newest+1 {
		t.Fatalf("the commit is of %d, %v; want one after %d", pushed, err, newest)
	}
	if got := known.reported(t, at(newest+1, "HEAD")); got != old {
		t.Errorf("before what was pushed: got %s, want %s", got, old)
	}
	for _, base := range []string{"HEAD", "main"} {
		if got := known.reported(t, at(time.Now().Unix()+1e6, base)); !strings.Contains(got, "pushed.txt") {
			t.Errorf("%s: what was pushed since is not found: %s", base, got)
		}
	}
	r.git("", "reset", "-q", "--hard", "HEAD~1")
	if got := known.reported(t, at(newest, "HEAD")); got != old {
		t.Errorf("got %s, want %s as before", got, old)
	}
	objects := filepath.Join(r.dir, ".git", "objects")
	if err := errors.Join(os.RemoveAll(objects), os.Mkdir(objects, 0o755)); err != nil { // git knows no commit any more
		t.Fatal(err)
	}
	if got := known.reported(t, at(newest, "HEAD")); !strings.Contains(got, "path") || strings.Contains(got, "missing") {
		t.Errorf("git was asked for a commit that the record tells: %s", got)
	}
	if got := known.reported(t, at(newest-1, "HEAD")); !strings.Contains(got, "could not be searched") {
		t.Errorf("got %s of an earlier time, which only git tells", got)
	}
}

// countStep counts the steps of a trace whose names begin so.
func countStep(tr *report.Trace, name string) (n int) {
	for _, s := range tr.Steps() {
		if strings.HasPrefix(s.Name, name) {
			n++
		}
	}
	return n
}
