package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func clusterCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.ClusterConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	var json string
	flags := newFlags("cluster")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to measure (default: built from the source in this folder)")
	flags.StringVar(&c.Work, "work", "", "empty directory for repositories and data directories; kept (default: temporary, kept if something is wrong)")
	flags.StringVar(&c.Authority, "authority", "", "address of an empty database, from which nodes are cut off in place of stopping it (default: a PostgreSQL server of its own)")
	flags.IntVar(&c.Nodes, "nodes", 3, "how many nodes")
	flags.StringVar(&c.Memory, "memory", "256MiB", "trawl's setting of that name, for each node")
	flags.IntVar(&c.Repositories, "repositories", 300, "how many repositories are made")
	flags.Uint64Var(&c.Seed, "seed", 1, "what they are drawn with, and what is done when")
	flags.IntVar(&c.Changes, "changes", 200, "how many small changes are timed")
	flags.IntVar(&c.Commits, "commits", 20, "how many commits are timed")
	flags.IntVar(&c.Tokens, "tokens", 100, "how many tokens are revoked")
	flags.IntVar(&c.Queries, "queries", 500, "how many answers are compared")
	flags.DurationVar(&c.Away, "away", 10*time.Second, "for how long the database and the objects are away")
	flags.DurationVar(&c.Grace, "grace", 0, "trawl's setting authority-grace; with one, faults that look at tokens are left out")
	flags.IntVar(&c.Faults, "faults", 0, "how many faults are drawn from the seed and happen, in place of all that is timed (default 0)")
	flags.Func("kinds", "names of the faults that are drawn, with commas between, as the report has them (default: all)", func(text string) error {
		c.Kinds = strings.Split(text, ",")
		return nil
	})
	flags.StringVar(&json, "json", "", "file to write the report to as JSON")
	strict := flags.Bool("strict", false, "exit with 1 also if a goal is missed")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch {
	case c.Nodes < 2:
		return fmt.Errorf("--nodes %d: a cluster has two or more", c.Nodes)
	case min(c.Repositories, c.Changes, c.Commits, c.Tokens, c.Queries) < 1 || c.Away <= 0:
		return fmt.Errorf("--repositories %d --changes %d --commits %d --tokens %d --queries %d --away %s: at least one of each",
			c.Repositories, c.Changes, c.Commits, c.Tokens, c.Queries, c.Away)
	case min(int64(c.Faults), int64(c.Grace)) < 0:
		return fmt.Errorf("--faults %d --grace %s: none is less than none", c.Faults, c.Grace)
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, filepath.Join(s.dir, "cluster"))
		report, err := bench.Cluster(ctx, c)
		if err != nil {
			return err
		}
		report.Command = commandLine("cluster", args)
		if err := errors.Join(report.Write(stdout), writeFile(json, report.WriteJSON)); err != nil {
			return err
		}
		if len(report.Problems) > 0 {
			s.kept = true
			fmt.Fprintf(stdout, "the data is kept in %s\n", c.Work)
		}
		return judge(len(report.Problems) > 0 || *strict && report.Missed() > 0)
	})
}
