package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/bench"
	"github.com/trawlsearch/trawl/internal/needs"
)

// availablePeers returns the peers this machine has. Git is always there.
func availablePeers(t *testing.T) []string {
	t.Helper()
	if !needs.Has(t, "rg", "the peer rg") {
		return []string{"git-grep"}
	}
	return []string{"rg", "git-grep"}
}

// toyRun returns a quick run over a generated corpus, with an honest stand-in
// for trawl.
func toyRun(t *testing.T) bench.Config {
	t.Helper()
	corpus := t.TempDir()
	if _, err := (bench.Corpus{Files: 60}).Generate(corpus); err != nil {
		t.Fatal(err)
	}
	queries, err := bench.QuerySet("small")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(fakeVariable, honest)
	return bench.Config{Trawl: fakeBinary(t), Corpus: corpus, Queries: queries, Peers: availablePeers(t), Runs: 1}
}

func run(t *testing.T, c bench.Config) *bench.Report {
	t.Helper()
	report, err := bench.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func find(t *testing.T, r *bench.Report, name string) bench.QueryFacts {
	t.Helper()
	i := slices.IndexFunc(r.Queries, func(q bench.QueryFacts) bool { return q.Name == name })
	if i < 0 {
		t.Fatalf("report has no query %q", name)
	}
	return r.Queries[i]
}

func checkNoProblems(t *testing.T, r *bench.Report) {
	t.Helper()
	if len(r.Problems) > 0 {
		var text strings.Builder
		_ = r.WriteText(&text)
		t.Errorf("problems = %q, want none; the report:\n%s", r.Problems, &text)
	}
}

func TestRunWithHonestServer(t *testing.T) {
	r := run(t, toyRun(t))
	checkNoProblems(t, r)
	if r.Index == nil || r.Index.Wall == 0 || r.Index.DiskBytes == 0 {
		t.Errorf("index = %+v, want time and size", r.Index)
	}
	if r.Resync == nil || len(r.Resync.Rounds) != 3 {
		t.Errorf("resync = %+v, want 3 rounds", r.Resync)
	}
	if got := r.Corpus.Skipped["binary"]; got != 2 {
		t.Errorf("files skipped as binary = %d, want 2", got)
	}
	if got := find(t, r, "rare").Lines; got != 3 {
		t.Errorf("lines of query rare = %d, want 3", got)
	}
	want := bench.Work{Lists: 3, Candidates: 2, Blocks: 4, Bytes: 500}
	if got := find(t, r, "common").Work; got != want {
		t.Errorf("work of query common = %+v, want %+v", got, want)
	}
	for _, q := range r.Queries {
		checkPeers(t, q)
	}
}

// checkPeers wants every peer to have answered as much as trawl, unless the
// query or the peer cannot say so.
func checkPeers(t *testing.T, q bench.QueryFacts) {
	t.Helper()
	for _, p := range q.Peers {
		if p.Cannot != "" {
			if q.Scope != bench.Nothing {
				t.Errorf("query %s: %s was not asked: %s", q.Name, p.Name, p.Cannot)
			}
			continue
		}
		if len(p.Runs) != 1 || p.Runs[0].Done == 0 {
			t.Errorf("query %s: runs of %s = %v, want one with a time", q.Name, p.Name, p.Runs)
		}
	}
}

// All peers, as found on PATH; zoekt and codesearch are stand-ins here, each
// with a file less than trawl.
func TestRunWithIndexedPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	c := toyRun(t)
	installFakePeers(t)
	c.Peers = nil
	r := run(t, c)
	checkNoProblems(t, r)
	for _, name := range []string{"zoekt", "csearch"} {
		i := slices.IndexFunc(r.Tools, func(f *bench.ToolFacts) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no facts about %s", name)
		}
		if f := r.Tools[i]; f.Index == nil || f.Index.DiskBytes == 0 || f.UnreadText != 1 {
			t.Errorf("%s = %+v, want an index and one file that it does not read", name, f)
		}
	}
	// Both files hold what this query looks for, on one line.
	for _, p := range find(t, r, "common").Peers {
		if want := map[string]int{"zoekt": 1, "csearch": 1}[p.Name]; p.Unread != want || len(p.Runs) != 1 {
			t.Errorf("%s: %d lines in files it does not read, %d runs; want %d and 1", p.Name, p.Unread, len(p.Runs), want)
		}
	}
	if goals := r.Goals(); len(goals) < 5 || goals[0].Queries != 2 {
		t.Errorf("goals = %+v, want groups held against zoekt, two queries in the first", goals)
	}
}

// Everything beyond the timed queries, at toy size.
func TestRunPhases(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	c := toyRun(t)
	installFakePeers(t)
	c.Peers = nil
	c.Queries = slices.DeleteFunc(c.Queries, func(q bench.Query) bool { return len(q.Phases) == 0 })
	c.Cold, c.ColdFilesOnly, c.Clients, c.ClientsFor = 2, true, []int{1, 3}, 20*time.Millisecond
	c.Memory, c.Rest, c.Growth = []string{"512MiB"}, time.Millisecond, []float64{0.5, 2}
	r := run(t, c)
	checkNoProblems(t, r)
	tools := len(availablePeers(t)) + 3 // zoekt, csearch and trawl
	if r.Cold == nil || len(r.Cold.Queries) != tools || r.Cold.Method == "" {
		t.Fatalf("cold = %+v, want one query of %d tools", r.Cold, tools)
	}
	for _, q := range r.Cold.Queries {
		server := q.Tool == "trawl" || q.Tool == "zoekt"
		if len(q.Rounds) != 2 || q.Done() == 0 || (q.Ready() > 0) != server {
			t.Errorf("cold %s = %+v, want two rounds, with a start only if it is a server", q.Tool, q.Rounds)
		}
	}
	if len(r.Clients) != 2*tools {
		t.Errorf("clients = %+v, want two numbers of clients for %d tools", r.Clients, tools)
	}
	for _, f := range r.Clients {
		if f.Searches == 0 || f.Errors > 0 || f.P50 == 0 || f.P99 < f.P50 || f.Max < f.P99 || f.PerSecond() <= 0 {
			t.Errorf("clients %+v, want times in order and no errors", f)
		}
	}
	if len(r.Memory) != 1 || r.Memory[0].Index.Wall == 0 || len(r.Memory[0].Queries) != len(c.Queries) {
		t.Errorf("memory = %+v, want one setting with all queries", r.Memory)
	}
	checkGrowth(t, r.Growth)
	for _, f := range r.Growth[0].Tools {
		if hasIndex := f.Name == "zoekt" || f.Name == "csearch"; (f.Index != nil) != hasIndex {
			t.Errorf("half the corpus: index of %s = %v", f.Name, f.Index)
		}
	}
}

func checkGrowth(t *testing.T, growth []bench.GrowthFacts) {
	t.Helper()
	if len(growth) != 2 {
		t.Fatalf("growth = %+v, want two sizes", growth)
	}
	half, twice := growth[0], growth[1]
	if half.Index.Wall == 0 || 3*half.Corpus.Files > twice.Corpus.Files {
		t.Errorf("corpora of %d and %d files; want four times as many", half.Corpus.Files, twice.Corpus.Files)
	}
	for i, q := range twice.Queries {
		// Copies hold as much as the original, half a corpus less.
		if q.Name == "common" && (q.Lines <= 2*half.Queries[i].Lines || q.Lines%2 == 0) {
			t.Errorf("query %s finds %d lines in half the corpus and %d in twice", q.Name, half.Queries[i].Lines, q.Lines)
		}
	}
}

func TestRunReportsTooLittleMemory(t *testing.T) {
	c := toyRun(t)
	c.Queries, c.Memory = c.Queries[:1], []string{"a lot"}
	r := run(t, c)
	want := []string{`with memory a lot: memory "a lot": want a size such as 512MiB or 1GiB`}
	if !slices.Equal(r.Problems, want) {
		t.Errorf("problems = %q, want %q", r.Problems, want)
	}
}

func TestRunReportsWrongAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	for _, tt := range []struct {
		mode, query    string
		missing, extra int
	}{
		{forgetful, "rare", 1, 0},
		{inventive, "rare", 0, 3},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			c := toyRun(t)
			c.Queries = slices.DeleteFunc(c.Queries, func(q bench.Query) bool { return q.Name != tt.query })
			t.Setenv(fakeVariable, tt.mode)
			r := run(t, c)
			if len(r.Problems) == 0 {
				t.Fatal("no problems, want a disagreement")
			}
			for _, p := range find(t, r, tt.query).Peers {
				d := p.Difference
				if d.Missing != tt.missing || d.Extra != tt.extra {
					t.Errorf("%s: missing %d, extra %d; want %d and %d", p.Name, d.Missing, d.Extra, tt.missing, tt.extra)
				}
				if tt.missing > 0 && !strings.Contains(d.MissingAt[0].Text, "xrare_word") {
					t.Errorf("%s: example %+v does not quote the line", p.Name, d.MissingAt[0])
				}
			}
		})
	}
}

func TestRunReportsStaleIndex(t *testing.T) {
	c := toyRun(t)
	c.Queries = c.Queries[:1]
	t.Setenv(fakeVariable, stale)
	r := run(t, c)
	want := []string{"after resync 0 changed lines are found, want 30"}
	if !slices.Equal(r.Problems, want) {
		t.Errorf("problems = %q, want %q", r.Problems, want)
	}
}

func TestRunErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*bench.Config)
		mode   string
		want   string
	}{
		{"server that ends", func(*bench.Config) {}, failing, "ended before it was ready: exit status 2: no luck today"},
		{"no corpus", func(c *bench.Config) { c.Corpus += "/none" }, honest, "open corpus"},
		{"unknown peer", func(c *bench.Config) { c.Peers = []string{"ack"} }, honest, `no peer "ack"`},
		{"reuse of nothing", func(c *bench.Config) { c.Reuse = true }, honest, "reuse needs a work directory"},
		{"reuse of an empty directory", func(c *bench.Config) { c.Reuse, c.Work = true, c.Corpus }, honest, "holds no data to reuse"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := toyRun(t)
			tt.change(&c)
			t.Setenv(fakeVariable, tt.mode)
			_, err := bench.Run(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// A kept directory serves a second run, after the first has changed its files.
func TestRunReusesData(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	c := toyRun(t)
	c.Work = filepath.Join(t.TempDir(), "work")
	checkNoProblems(t, run(t, c))
	c.Reuse = true
	r := run(t, c)
	checkNoProblems(t, r)
	if r.Index != nil || r.Resync != nil {
		t.Errorf("index = %v, resync = %v; want neither", r.Index, r.Resync)
	}
}

// The corpus may be a repository, with or without a work tree that fits HEAD.
func TestRunReadsRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers again and again")
	}
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	c := toyRun(t)
	c.Queries = slices.DeleteFunc(c.Queries, func(q bench.Query) bool { return q.Name != "rare" && q.Name != "path" })
	git(c.Corpus, "init", "--quiet")
	git(c.Corpus, "add", "--all", "--force")
	git(c.Corpus, "commit", "--quiet", "-m", "corpus")
	t.Run("clean", func(t *testing.T) { checkNoProblems(t, run(t, c)) })
	t.Run("dirty", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(c.Corpus, "odd", "new.txt"), []byte("xrare_word\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		checkNoProblems(t, run(t, c))
	})
	t.Run("bare", func(t *testing.T) {
		bare := filepath.Join(t.TempDir(), "bare.git")
		git(c.Corpus, "clone", "--quiet", "--bare", ".", bare)
		c.Corpus = bare
		checkNoProblems(t, run(t, c))
	})
}

// A run leaves nothing behind in the corpus.
func TestRunOnlyReadsCorpus(t *testing.T) {
	c := toyRun(t)
	c.Queries = c.Queries[:1]
	before := listing(t, c.Corpus)
	checkNoProblems(t, run(t, c))
	if after := listing(t, c.Corpus); after != before {
		t.Errorf("files after the run:\n%s\nbefore:\n%s", after, before)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		b.WriteString(p + " " + info.ModTime().String() + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRunTrawl runs the harness on the program itself, so that neither can
// change without the other.
func TestRunTrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("builds trawl")
	}
	if _, err := os.Stat("../cmd/trawl/main.go"); err != nil {
		t.Skip("this tree has no cmd/trawl")
	}
	c := toyRun(t)
	t.Setenv(fakeVariable, "")
	c.Trawl = builtTrawl(t)
	checkNoProblems(t, run(t, c))
	t.Run("every phase, alone", func(t *testing.T) {
		c := c
		c.Peers = []string{}
		c.Cold, c.ColdFilesOnly, c.Clients, c.ClientsFor = 1, true, []int{2}, 50*time.Millisecond
		c.Memory, c.Rest, c.Growth = []string{"64MiB"}, time.Millisecond, []float64{0.5, 2}
		r := run(t, c)
		checkNoProblems(t, r)
		if len(r.Clients) != 1 || r.Clients[0].Errors > 0 || r.Clients[0].Searches == 0 {
			t.Errorf("clients = %+v, want answers to all of them", r.Clients)
		}
		checkGrowth(t, r.Growth)
		if page := htmlOf(t, r); !strings.Contains(page, `data-figure="growth-done"`) {
			t.Error("the page lacks the figure on growth")
		}
	})
}
