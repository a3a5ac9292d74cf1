package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func killCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.KillConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	flags := newFlags("kill")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to kill (default: built from the source in this folder)")
	flags.StringVar(&c.Work, "data", "", "empty directory for data and repositories; kept (default: temporary, kept if something is wrong)")
	flags.IntVar(&c.Cycles, "cycles", 100, "how many servers are killed")
	flags.Uint64Var(&c.Seed, "seed", uint64(time.Now().UnixNano()), "what is done and when they are killed")
	flags.DurationVar(&c.Load, "load", 300*time.Millisecond, "the longest that a server works before it is killed")
	flags.DurationVar(&c.ReadyWithin, "ready-within", 10*time.Second, "how long a server may take to be ready")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if c.Cycles < 1 {
		return fmt.Errorf("--cycles %d: at least one", c.Cycles)
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, filepath.Join(s.dir, "kill"))
		report, err := bench.Kill(ctx, c)
		if err != nil {
			return err
		}
		if err := report.Write(stdout); err != nil {
			return err
		}
		if !report.OK() {
			s.kept = true
			_, err := fmt.Fprintf(stdout, "the data is kept in %s\n", c.Work)
			return errors.Join(errBadRun, err)
		}
		return nil
	})
}
