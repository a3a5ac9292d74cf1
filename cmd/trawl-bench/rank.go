package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/trawlsearch/trawl/bench"
)

// rankFlags are the flags of the command line.
type rankFlags struct {
	trawl, corpus, judged, data string
	reuse, strict               bool
	json, update                string
}

func readRankFlags(args []string, stderr io.Writer) (rankFlags, error) {
	var f rankFlags
	flags := newFlags("rank")
	flags.StringVar(&f.trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&f.judged, "judged", "go", "judged set: \"go\", \"kernel\", \"kernel-unseen\", \"git-unseen\" or a file")
	flags.StringVar(&f.corpus, "corpus", "", "directory to search; only read (default for \"go\": the source of the installed Go)")
	flags.StringVar(&f.data, "data", "", "directory to keep the data in (default: temporary)")
	flags.BoolVar(&f.reuse, "reuse", false, "use what an earlier call left in the data directory instead of indexing")
	flags.StringVar(&f.json, "json", "", "file to write the report to as JSON")
	flags.StringVar(&f.update, "update", "", "file to write the ranks to, for comparison later")
	flags.BoolVar(&f.strict, "strict", false, "exit with 1 also if the mean reciprocal rank is lower than before")
	if err := parse(flags, args, 0, stderr); err != nil {
		return f, err
	}
	switch {
	case f.corpus == "" && f.judged != "go":
		return f, errors.New("--corpus is missing: which directory is to be searched?")
	case f.reuse && f.data == "":
		return f, errors.New("--reuse needs --data, the directory of the earlier call")
	}
	return f, nil
}

// config reads what the flags name and makes the call out of it.
func (f rankFlags) config(ctx context.Context) (bench.RankConfig, error) {
	c := bench.RankConfig{Trawl: f.trawl, Corpus: f.corpus, Work: f.data, Reuse: f.reuse}
	var err error
	if c.Queries, c.Before, err = loadJudged(f.judged); err != nil {
		return c, err
	}
	if c.Corpus == "" {
		c.Corpus, err = goSource(ctx)
	}
	return c, err
}

// loadJudged takes the name of a set that ships with the program or a file,
// which has no ranks to compare with.
func loadJudged(name string) ([]bench.Judged, bench.Ranks, error) {
	queries, ranks, setErr := bench.JudgedSet(name)
	if setErr == nil {
		return queries, ranks, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, bench.Ranks{}, fmt.Errorf("%w, and no file: %w", setErr, err)
	}
	if queries, err = bench.ParseJudged(string(text)); err != nil {
		return nil, bench.Ranks{}, fmt.Errorf("%s: %w", name, err)
	}
	return queries, bench.Ranks{}, nil
}

// goSource is where the source of the installed Go lies.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of Go: %w; name it with --corpus", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}

func rankCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := readRankFlags(args, stderr)
	if err != nil {
		return err
	}
	c, err := f.config(ctx)
	if err != nil {
		return err
	}
	c.Progress = func(message string) { fmt.Fprintln(stderr, message) }
	return inScratch(ctx, &c.Trawl, c.Progress, func(_ *scratch) error {
		report, err := bench.Rank(ctx, c)
		if err != nil {
			return err
		}
		return f.deliver(report, stdout)
	})
}

// deliver writes the report wherever the flags say and judges it.
func (f rankFlags) deliver(report *bench.RankReport, stdout io.Writer) error {
	return judge(len(report.Problems) > 0 || f.strict && report.Worse(),
		report.WriteText(stdout), writeFile(f.json, report.WriteJSON), writeFile(f.update, report.Write))
}
