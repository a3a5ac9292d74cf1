package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func killCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
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
	temporary, err := os.MkdirTemp("", "trawl-bench-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, os.RemoveAll(temporary))
		}
	}()
	if c.Work == "" {
		c.Work = filepath.Join(temporary, "kill")
	}
	if c.Trawl == "" {
		if c.Trawl, err = bench.BuildTrawl(ctx, temporary); err != nil {
			return err
		}
	}
	report, err := bench.Kill(ctx, c)
	if err != nil {
		return err
	}
	if err := report.Write(stdout); err != nil {
		return err
	}
	if !report.OK() {
		keep = true
		_, err := fmt.Fprintf(stdout, "the data is kept in %s\n", c.Work)
		return errors.Join(errBadRun, err)
	}
	return nil
}
