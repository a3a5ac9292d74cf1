package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RankConfig says what to judge. The zero value of a field means its default.
type RankConfig struct {
	// Trawl is the binary under test; required.
	Trawl string
	// Corpus is the directory to search, as in Config; required.
	Corpus string
	// Queries are what is asked; required.
	Queries []Judged
	// Before are ranks to compare with; no ranks compare with nothing.
	Before Ranks
	// Work is a directory that is kept; Reuse takes what an earlier call left
	// there instead of indexing.
	Work  string
	Reuse bool
	// Progress is called with each step, if set.
	Progress func(message string)
}

// Rank indexes the corpus, definitions included, asks the queries as a client
// does and finds the wanted files in the answers. It does not measure figures
// that are the same for every query, such as time: Run does.
func Rank(ctx context.Context, c RankConfig) (_ *RankReport, err error) {
	if c.Trawl == "" || c.Corpus == "" || len(c.Queries) == 0 {
		return nil, errors.New("bench: a trawl binary, a corpus and judged queries are needed")
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	scratch, err := os.MkdirTemp("", "trawl-bench-")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	r := &runner{
		Config:  Config{Trawl: c.Trawl, Corpus: c.Corpus, Work: c.Work, Reuse: c.Reuse, Progress: c.Progress},
		scratch: scratch, symbols: true, report: &Report{},
	}
	report, err := r.rank(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return report, nil
}

func (r *runner) rank(ctx context.Context, c RankConfig) (*RankReport, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if err := r.index(ctx); err != nil {
		return nil, err
	}
	tree, err := r.source.git.run(ctx, "rev-parse", r.source.commit+"^{tree}")
	if err != nil {
		return nil, err
	}
	out := &RankReport{
		Version: RankReportVersion, Trawl: r.report.Versions["trawl"], Corpus: c.Corpus, Tree: tree, Files: len(r.source.files),
	}
	missing := c.missing(r.source)
	err = r.serving(ctx, func(s *server) error {
		for _, q := range c.Queries {
			if slices.Contains(missing, q.Name) {
				continue
			}
			r.Progress("asking " + q.Name)
			facts, err := s.rank(ctx, q)
			if err != nil {
				return err
			}
			out.Queries = append(out.Queries, facts)
		}
		return s.checkSymbols(ctx, out)
	})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		out.problem("the corpus has none of the files wanted by %s, so these were not asked", strings.Join(missing, ", "))
	}
	out.sum(c.Before)
	return out, nil
}

// missing returns the names of queries whose files the corpus does not have:
// those say nothing about ranking.
func (c *RankConfig) missing(s *source) []string {
	there := map[string]bool{}
	for _, f := range s.files {
		there[f.path] = true
	}
	var out []string
	for _, q := range c.Queries {
		if !slices.ContainsFunc(q.Want, func(path string) bool { return there[path] }) {
			out = append(out, q.Name)
		}
	}
	return out
}

// checkSymbols fails when definitions were not read: ranks without them cannot
// be compared.
func (s *server) checkSymbols(ctx context.Context, out *RankReport) error {
	answer, err := s.search(ctx, "type:symbol count:1 main", "keyword", nil)
	if err != nil {
		return err
	}
	for _, reason := range answer.Incomplete {
		if strings.HasPrefix(reason, "symbols-missing") {
			out.problem("%s: is universal-ctags installed?", reason)
		}
	}
	return nil
}

// shown is how many results are looked through, as many as a page of answers
// may have. A file behind them counts as not found: no user would see it.
const shown = 500

// rank asks q and finds the wanted file among what came, repositories included.
func (s *server) rank(ctx context.Context, q Judged) (RankFacts, error) {
	facts := RankFacts{Judged: q}
	seen := map[string]bool{}
	answer, err := s.search(ctx, q.Text, q.PatternType, func(data []byte) error {
		var matches []struct{ Repository, Path string }
		if err := json.Unmarshal(data, &matches); err != nil {
			return fmt.Errorf("decode matches %.200q: %w", data, err)
		}
		for _, m := range matches {
			key := m.Repository + "\x00" + m.Path
			if seen[key] || len(seen) == shown {
				continue
			}
			seen[key] = true
			if len(facts.Top) < topShown {
				facts.Top = append(facts.Top, filepath.ToSlash(m.Path))
			}
			if facts.Rank == 0 && slices.Contains(q.Want, m.Path) {
				facts.Rank = len(seen)
			}
		}
		return nil
	})
	facts.Results = answer.Results
	return facts, err
}

// topShown is how many paths at the top of an answer the report keeps.
const topShown = 3
