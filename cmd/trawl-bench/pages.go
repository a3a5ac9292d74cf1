package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/trawlsearch/trawl/bench"
)

func pagesCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	c := bench.PagesConfig{Note: func(s string) { fmt.Fprintf(stderr, "trawl-bench: %s\n", s) }}
	asJSON := false
	flags := newFlags("pages")
	flags.StringVar(&c.Trawl, "trawl", "", "binary to judge (default: built from the source in this folder)")
	flags.StringVar(&c.Data, "data", "", "data directory with repositories; it is served, so give a copy")
	flags.StringVar(&c.Memory, "memory", "2GiB", "trawl's setting of that name")
	flags.StringVar(&c.Browser, "browser", "", "Chromium to look with (default: the first of PATH)")
	flags.StringVar(&c.File, "file", "/linux-source-6.1/-/blob/kernel/fork.c", "path of the page of a file of about 3,000 lines")
	flags.StringVar(&c.Few, "few", "copy_process", "query whose first result is waited for")
	flags.StringVar(&c.All, "all", "count:all the", "query whose answer is very long")
	flags.IntVar(&c.Runs, "runs", 7, "how often the first pages are opened")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	switch {
	case c.Data == "":
		return errors.New("--data is missing: which data directory is to be served?")
	case c.Runs < 1:
		return errors.New("--runs: at least one")
	}
	if c.Browser == "" {
		if c.Browser, err = findBrowser(); err != nil {
			return err
		}
	}
	return inScratch(ctx, &c.Trawl, c.Note, func(_ *scratch) error {
		report, err := bench.Pages(ctx, c)
		if err != nil {
			return err
		}
		return writeJudged(stdout, report, asJSON)
	})
}

// findBrowser returns the path of a Chromium. The one without windows comes first, as
// it starts soonest.
func findBrowser() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium; install Debian's chromium-headless-shell, or name one with --browser")
}
