package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func soakCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.SoakConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	asJSON := false
	flags := newFlags("soak")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to run (default: built from the source in this folder)")
	flags.StringVar(&c.Work, "data", "", "empty directory for data, backups and repositories; kept (default: temporary, kept if something is wrong)")
	flags.DurationVar(&c.For, "for", 10*time.Minute, "how long; the round at hand is finished")
	flags.IntVar(&c.Rounds, "rounds", 0, "end after so many rounds")
	flags.Uint64Var(&c.Seed, "seed", rand.Uint64(), "what is done, in which order")
	flags.Float64Var(&c.Share, "share", 1, "part of the time in which something is asked of the server")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON, with the sample of each round")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	if c.Share <= 0 || c.Share > 1 {
		return fmt.Errorf("--share %g: more than 0, at most 1", c.Share)
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = cmp.Or(c.Work, filepath.Join(s.dir, "soak"))
		report, err := bench.Soak(ctx, c)
		if err != nil {
			return err
		}
		if asJSON {
			out := json.NewEncoder(stdout)
			out.SetIndent("", "\t")
			err = out.Encode(report)
		} else {
			err = report.Write(stdout)
		}
		if err == nil && !report.OK() {
			s.kept = true
			_, err = fmt.Fprintf(stderr, "trawl-bench: the data is kept in %s; go run ./cmd/trawl-bench soak --for %s --seed %d repeats this\n", c.Work, c.For, c.Seed)
			return errors.Join(errBadRun, err)
		}
		return err
	})
}
