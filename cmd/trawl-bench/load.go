package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

func loadCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := bench.LoadConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	words, asJSON := "", false
	flags := newFlags("load")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Data, "data", "", "data directory with repositories; it is served, so give a copy")
	flags.StringVar(&c.Memory, "memory", "512MiB", "trawl's setting of that name")
	flags.IntVar(&c.Streams, "streams", 500, "how many streams are kept open")
	flags.IntVar(&c.BytesPerSecond, "read", 1000, "how many bytes a second of each are read")
	flags.Float64Var(&c.Rate, "rate", 50, "how many queries a second are asked beside them")
	flags.Float64Var(&c.CancelRate, "cancel", 5, "how many more a second are left by their clients")
	flags.DurationVar(&c.For, "for", 10*time.Minute, "how long")
	flags.StringVar(&words, "words", "return,static,struct,int,unsigned,char,const", "words to look for, with commas between")
	flags.Uint64Var(&c.Seed, "seed", 1, "what is asked when")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch c.Words = strings.Split(words, ","); {
	case c.Data == "":
		return errors.New("--data is missing: which data directory is to be served?")
	case c.Streams < 0 || c.BytesPerSecond < 1 || c.For <= 0:
		return errors.New("--streams, --read and --for: a number that makes sense")
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(_ *scratch) error {
		report, err := bench.Load(ctx, c)
		if err != nil {
			return err
		}
		return writeJudged(stdout, report, asJSON)
	})
}

// judged is a report that lists its faults.
type judged interface {
	Write(io.Writer) error
	Wrong() []string
}

// writeJudged prints a report for people or programs. It returns errBadRun if
// the report has faults.
func writeJudged(w io.Writer, report judged, asJSON bool) error {
	write := func() error { return report.Write(w) }
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		write = func() error { return e.Encode(report) }
	}
	return judge(len(report.Wrong()) > 0, write())
}
