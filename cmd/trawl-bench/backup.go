package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/trawlsearch/trawl/bench"
)

func backupCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.BackupConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	flags := newFlags("backup")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Data, "data", "", "data directory that no process has open; only read")
	flags.StringVar(&c.Work, "work", "", "empty directory for its copy, backups and what is restored (default: temporary)")
	flags.IntVar(&c.Queries, "queries", 500, "how many answers are compared")
	flags.Uint64Var(&c.Seed, "seed", 1, "what queries are made with")
	flags.StringVar(&c.Recipient, "recipient", "", "encrypt to this public key of age")
	flags.StringVar(&c.Identity, "identity-file", "", "file with the private key")
	strict := flags.Bool("strict", false, "exit with 1 also if a target is missed")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch {
	case c.Data == "":
		return errors.New("--data is missing: what is to be backed up?")
	case c.Queries < 1:
		return errors.New("--queries: at least one")
	case (c.Recipient == "") != (c.Identity == ""):
		return errors.New("--recipient and --identity-file go together")
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, s.dir)
		report, err := bench.RunBackup(ctx, c)
		if err != nil {
			return err
		}
		return judge(len(report.Different) > 0 || *strict && !report.OK(), report.Write(stdout))
	})
}
