package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// HistoryConfig is a comparison of searches of commits with git log.
type HistoryConfig struct {
	// Trawl is the binary, Repo the git repository, Work a directory for data.
	Trawl, Repo, Work string
	// Reuse says that Work holds the repository already.
	Reuse bool
	// Diffs is the setting history-diffs; empty is "all", without which diffs
	// older than the index are read by git in both programs.
	Diffs string
	// Words are looked for in messages and in diffs, whatever their case.
	Words []string
	// Runs is how often each question is asked when warm, GitRuns how often git
	// is; 0 is 11 and 3.
	Runs, GitRuns int
	// Note, if set, hears what is being done.
	Note func(string)
}

// HistoryReport is what came out.
type HistoryReport struct {
	// Index is what trawl index took, texts and commits together; nothing when
	// the data was there. DiskBytes is all of the data directory.
	Index     Usage          `json:"index"`
	DiskBytes int64          `json:"diskBytes"`
	Queries   []HistoryFacts `json:"queries"`
}

// HistoryFacts are the measurements of one question.
type HistoryFacts struct {
	Query string `json:"query"`
	// Git is what git log was asked.
	Git []string `json:"git"`
	// Commits is how many trawl found, Missing and Extra how many more or fewer
	// than git; SameOrder says that they came in git's order.
	Commits   int  `json:"commits"`
	Missing   int  `json:"missing"`
	Extra     int  `json:"extra"`
	SameOrder bool `json:"sameOrder"`
	// First is the first answer, Warm the median of those that followed, GitTook
	// that of git.
	First      time.Duration `json:"firstNanos"`
	Warm       time.Duration `json:"warmNanos"`
	GitTook    time.Duration `json:"gitNanos"`
	Incomplete []string      `json:"incomplete,omitempty"`
}

// OK reports whether trawl found what git found.
func (f HistoryFacts) OK() bool { return f.Missing+f.Extra == 0 }

// OK reports whether that is so of all.
func (r *HistoryReport) OK() bool {
	return !slices.ContainsFunc(r.Queries, func(f HistoryFacts) bool { return !f.OK() })
}

// RunHistory indexes the repository and asks both programs for the same
// commits.
func RunHistory(ctx context.Context, c HistoryConfig) (report *HistoryReport, err error) {
	c.Diffs = cmp.Or(c.Diffs, "all")
	c.Runs = cmp.Or(c.Runs, 11)
	c.GitRuns = cmp.Or(c.GitRuns, 3)
	if c.Note == nil {
		c.Note = func(string) {}
	}
	t := &trawl{binary: c.Trawl, data: filepath.Join(c.Work, "data"), history: true, historyDiffs: c.Diffs}
	t.serveArgs = []string{"--sync-interval", "0"}
	report = &HistoryReport{}
	if !c.Reuse {
		c.Note("index " + c.Repo)
		if report.Index, err = t.index(ctx, c.Repo); err != nil {
			return nil, err
		}
	}
	if report.DiskBytes, err = treeBytes(t.data); err != nil {
		return nil, err
	}
	s, err := t.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, word := range c.Words {
		for _, f := range []HistoryFacts{
			{Query: "type:commit count:all " + word, Git: []string{"-i", "--fixed-strings", "--grep=" + word}},
			{Query: "type:diff count:all " + word, Git: []string{"-i", "-G", word}},
		} {
			c.Note(f.Query)
			if err := f.measure(ctx, c, s); err != nil {
				return nil, err
			}
			report.Queries = append(report.Queries, f)
		}
	}
	return report, nil
}

// measure asks both programs.
func (f *HistoryFacts) measure(ctx context.Context, c HistoryConfig, s *server) error {
	var got []string
	collect := func(data []byte) error {
		var matches []struct {
			OID string `json:"oid"`
		}
		if err := json.Unmarshal(data, &matches); err != nil {
			return fmt.Errorf("decode matches: %w", err)
		}
		for _, m := range matches {
			got = append(got, m.OID)
		}
		return nil
	}
	a, err := s.search(ctx, f.Query, "keyword", collect)
	if err != nil {
		return err
	}
	f.First, f.Incomplete, f.Commits = a.Done, a.Incomplete, len(got)
	var answers []Answer
	for range c.Runs {
		a, err := s.search(ctx, f.Query, "keyword", nil)
		if err != nil {
			return err
		}
		answers = append(answers, a)
	}
	f.Warm = median(answers, func(a Answer) time.Duration { return a.Done })
	var want []string
	var took []time.Duration
	for range c.GitRuns {
		start := time.Now()
		out, err := gitRepo{dir: c.Repo}.run(ctx, append([]string{"log", "--format=%H"}, f.Git...)...)
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		want = strings.Fields(out)
	}
	f.GitTook = median(took, func(d time.Duration) time.Duration { return d })
	f.compare(got, want)
	return nil
}

func (f *HistoryFacts) compare(got, want []string) {
	f.SameOrder = slices.Equal(got, want)
	f.Missing, f.Extra = countMissing(got, want), countMissing(want, got)
}

// countMissing counts what of want is not in got.
func countMissing(got, want []string) int {
	have := map[string]bool{}
	for _, s := range got {
		have[s] = true
	}
	n := 0
	for _, s := range want {
		if !have[s] {
			n++
		}
	}
	return n
}

// Write prints the report for people.
func (r *HistoryReport) Write(w io.Writer) error {
	if r.Index.Wall > 0 {
		fmt.Fprintf(w, "index %.1f s, %.1f s of CPU, %d MB at most; data directory %d MB\n",
			r.Index.Wall.Seconds(), r.Index.CPU.Seconds(), r.Index.PeakTreeRSSBytes>>20, r.DiskBytes>>20)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "query\tcommits\tfirst ms\twarm ms\tgit log ms\ttimes faster\tagreement")
	for _, f := range r.Queries {
		agreement := "same, in order"
		switch {
		case !f.OK():
			agreement = fmt.Sprintf("%d missing, %d extra", f.Missing, f.Extra)
		case !f.SameOrder:
			agreement = "same, in another order"
		}
		for _, why := range f.Incomplete {
			agreement += "; " + why
		}
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.0f\t%.0f\t%s\n", f.Query, f.Commits, inMillis(f.First), inMillis(f.Warm), inMillis(f.GitTook),
			float64(f.GitTook)/float64(max(f.Warm, 1)), agreement)
	}
	return t.Flush()
}

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// treeBytes is the size of all files in a directory.
func treeBytes(dir string) (int64, error) {
	n := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
