package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trawlsearch/trawl/bench"
)

// mineCommand makes a set of queries of the commits of repositories.
func mineCommand(ctx context.Context, args []string, _, stderr io.Writer) error {
	c := bench.MineConfig{Progress: func(message string) { fmt.Fprintln(stderr, message) }}
	repositories := ""
	flags := newFlags("mine")
	flags.StringVar(&repositories, "repos", "", "git directories, with commas between; only read")
	flags.StringVar(&c.Out, "out", "", "directory for the set")
	flags.IntVar(&c.Snapshots, "snapshots", 4, "how many snapshots of each repository to search")
	flags.IntVar(&c.Commits, "commits", 85, "how many commits behind each give a query")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if repositories == "" || c.Out == "" {
		return errors.New("--repos and --out: of which repositories is a set to be made, and where?")
	}
	c.Repositories = strings.Split(repositories, ",")
	return bench.Mine(ctx, c)
}

// minedCommand asks the queries of such a set.
func minedCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.MinedConfig{Progress: func(message string) { fmt.Fprintln(stderr, message) }}
	queries := ""
	flags := newFlags("mined")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Dir, "set", "", "directory of the set that mine made")
	flags.BoolVar(&c.Zoekt, "zoekt", false, "ask zoekt too, with symbols")
	flags.StringVar(&c.Work, "data", "", "directory to keep the data in (default: temporary)")
	flags.BoolVar(&c.Reuse, "reuse", false, "use what an earlier call left in the data directory instead of indexing")
	flags.StringVar(&c.Suffix, "with", "", "what trawl is asked besides, such as count:100")
	flags.StringVar(&queries, "queries", "", "file to write the place of each query to")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch {
	case c.Dir == "":
		return errors.New("--set is missing: the directory that mine made")
	case c.Reuse && c.Work == "":
		return errors.New("--reuse needs --data, the directory of the earlier call")
	}
	return inScratch(ctx, &c.Trawl, c.Progress, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, s.dir)
		report, err := bench.RankMined(ctx, c)
		if err != nil {
			return err
		}
		return errors.Join(report.WriteText(stdout), writeFile(queries, report.WriteQueries))
	})
}
