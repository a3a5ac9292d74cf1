package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/trawlsearch/trawl/bench"
)

// showCommand prints a saved report as a table, as a page or as benchmark lines.
func showCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("show")
	benchmarks := flags.Bool("bench", false, "print Go benchmark lines instead of tables")
	html := flags.Bool("html", false, "print the page with plots instead of tables")
	if err := parse(flags, args, 1, stderr); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("which report? Name a file that \"run --json\" wrote")
	}
	file, err := os.Open(flags.Arg(0))
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := bench.ReadReport(file)
	if err != nil {
		return fmt.Errorf("%s: %w", flags.Arg(0), err)
	}
	switch {
	case *benchmarks:
		return report.WriteBenchmarks(stdout)
	case *html:
		return report.WriteHTML(stdout)
	}
	return report.WriteText(stdout)
}
