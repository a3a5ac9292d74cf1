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

func soakCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	c := bench.SoakConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	asJSON := false
	flags := newFlags("soak")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Work, "data", "", "empty directory for data, repositories and backups; kept (default: temporary)")
	flags.DurationVar(&c.For, "for", 10*time.Minute, "how long; the round at work is finished")
	flags.DurationVar(&c.Pause, "pause", 500*time.Millisecond, "rest after each change: the longer, the less of the machine is used")
	flags.IntVar(&c.RoundsPerServer, "rounds-per-server", 6, "after how many rounds the server is started anew")
	flags.Uint64Var(&c.Seed, "seed", uint64(time.Now().UnixNano()), "what is done")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if c.For <= 0 || c.RoundsPerServer < 1 {
		return errors.New("--for and --rounds-per-server: a number that makes sense")
	}
	temporary, err := os.MkdirTemp("", "trawl-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	if c.Work == "" {
		c.Work = filepath.Join(temporary, "soak")
	}
	if c.Trawl == "" {
		if c.Trawl, err = bench.BuildTrawl(ctx, temporary); err != nil {
			return err
		}
	}
	report, err := bench.Soak(ctx, c)
	if err != nil {
		return err
	}
	if err := writeReport(stdout, report, asJSON); err != nil {
		return err
	}
	if len(report.Wrong()) > 0 {
		return errBadRun
	}
	return nil
}
