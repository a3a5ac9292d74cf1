package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/trawlsearch/trawl/bench"
)

// hostCommand has a server find the repositories of a code host, and pushes to them.
func hostCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.CodeHostConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	var json string
	flags := newFlags("host")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to measure (default: built from the source in this folder)")
	flags.IntVar(&c.Repositories, "repositories", 3000, "how many repositories the host has")
	flags.Uint64Var(&c.Seed, "seed", 1, "what they are drawn with")
	flags.StringVar(&c.Memory, "memory", "512MiB", "trawl's setting of that name")
	flags.BoolVar(&c.Symbols, "symbols", false, "read definitions as well; needs universal-ctags")
	flags.IntVar(&c.Pushes, "pushes", 100, "how many commits are pushed when all is searchable, and before that at most")
	flags.DurationVar(&c.Every, "every", 0, "time between a push that was found and the next (default 1.2s)")
	flags.StringVar(&c.Work, "work", "", "empty directory for repositories and the data directory; kept (default: temporary)")
	flags.StringVar(&json, "json", "", "file to write the report to as JSON")
	strict := flags.Bool("strict", false, "exit with 1 if a goal is missed")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if c.Repositories < 1 || c.Pushes < 1 || c.Every < 0 {
		return fmt.Errorf("--repositories %d --pushes %d --every %s: at least one of each, and no negative time", c.Repositories, c.Pushes, c.Every)
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, filepath.Join(s.dir, "host"))
		report, err := bench.CodeHost(ctx, c)
		if err != nil {
			return err
		}
		report.Command = commandLine("host", args)
		return judge(*strict && report.Missed() > 0, report.Write(stdout), writeFile(json, report.WriteJSON))
	})
}
