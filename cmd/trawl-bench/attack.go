package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func attackCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.AttackConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	words, asJSON := "", false
	flags := newFlags("attack")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Data, "data", "", "data directory with repositories; it is served, so give a copy")
	flags.StringVar(&c.Memory, "memory", "512MiB", "trawl's setting of that name")
	flags.DurationVar(&c.For, "for", 5*time.Second, "how long each attack lasts")
	flags.Float64Var(&c.Rate, "rate", 10, "how many queries a second another client asks meanwhile")
	flags.Float64Var(&c.AttackRate, "attack-rate", 20, "how many requests a second attack")
	flags.IntVar(&c.Connections, "connections", 10_000, "how many connections are opened at most")
	flags.StringVar(&words, "words", "kmalloc,spinlock,netdev,mutex", "words to look for, with commas between")
	flags.Float64Var(&c.Scale, "scale", 1, "size of the hostile repository; 1 is about 700 MB of text")
	flags.StringVar(&c.Only, "only", "", "part of the names of the attacks to run (default: all)")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch c.Words = strings.Split(words, ","); {
	case c.Data == "":
		return errors.New("--data is missing: which data directory is to be served?")
	case c.For <= 0 || c.Rate <= 0 || c.AttackRate <= 0 || c.Connections < 1 || c.Scale <= 0:
		return errors.New("--for, --rate, --attack-rate, --connections and --scale: numbers above zero")
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(s *scratch) error {
		c.Work = s.dir
		report, err := bench.Attack(ctx, c)
		if err != nil {
			return err
		}
		return writeJudged(stdout, report, asJSON)
	})
}
