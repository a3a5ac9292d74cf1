package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/trawlsearch/trawl/bench"
)

func manyCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.ManyConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	var json, peers string
	flags := newFlags("many")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to measure (default: built from the source in this folder)")
	flags.IntVar(&c.Repositories, "repositories", 1000, "how many repositories are made")
	flags.Uint64Var(&c.Seed, "seed", 1, "what they are drawn with")
	flags.StringVar(&c.Memory, "memory", "512MiB", "trawl's setting of that name")
	flags.StringVar(&peers, "peers", "", "\"zoekt\" to compare with it; empty is none")
	flags.StringVar(&c.PeerIndex, "peer-index", "", "directory where zoekt's index and its figures stay, to be taken from there by the next run")
	flags.StringVar(&c.Work, "work", "", "empty directory for repositories and indexes; kept (default: temporary)")
	flags.BoolVar(&c.Symbols, "symbols", false, "index once more with definitions and commits; needs universal-ctags")
	flags.BoolVar(&c.Apart, "apart", false, "have a server also open a store with a shard for each repository, as older programs made")
	flags.IntVar(&c.Runs, "runs", 7, "timed runs of each query")
	flags.IntVar(&c.Commits, "commits", 5, "how many commits are added and synced one after the other")
	flags.StringVar(&json, "json", "", "file to write the report to as JSON")
	strict := flags.Bool("strict", false, "exit with 1 also if a goal is missed")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if c.Repositories < 1 || c.Runs < 1 || c.Commits < 1 {
		return fmt.Errorf("--repositories %d --runs %d --commits %d: at least one of each", c.Repositories, c.Runs, c.Commits)
	}
	c.Peers = strings.FieldsFunc(peers, func(r rune) bool { return r == ',' })
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, filepath.Join(s.dir, "many"))
		report, err := bench.Many(ctx, c)
		if err != nil {
			return err
		}
		report.Command = commandLine("many", args)
		return judge(len(report.Problems) > 0 || *strict && report.Missed() > 0, report.Write(stdout), writeFile(json, report.WriteJSON))
	})
}
