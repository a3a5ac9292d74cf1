package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

// runFlags are the flags of the command line.
type runFlags struct {
	trawl, corpus, queries, data string
	reuse, strict                bool
	json, benchmarks, html       string
	peers, only                  string
	runs                         int
	peerBudget                   time.Duration
	token                        string
	serveArgs                    []string
	phases                       phaseFlags
}

// everyPeer stands for the peers whose programs are on PATH.
const everyPeer = "all"

func readRunFlags(args []string, stderr io.Writer) (runFlags, error) {
	var f runFlags
	flags := newFlags("run")
	flags.StringVar(&f.trawl, "trawl", "", "binary to measure (default: built from the source in this folder)")
	flags.StringVar(&f.corpus, "corpus", "", "directory to search: a git repository or a plain directory; only read")
	flags.StringVar(&f.queries, "queries", "kernel", "query set: \"kernel\", \"small\" or a file")
	flags.StringVar(&f.only, "only", "", "regexp for names of queries to ask (default: all)")
	flags.StringVar(&f.data, "data", "", "directory to keep the data in (default: temporary)")
	flags.BoolVar(&f.reuse, "reuse", false, "use what an earlier run left in the data directory instead of indexing")
	flags.StringVar(&f.peers, "peers", everyPeer, "tools to compare with, of rg, git-grep, zoekt and csearch; \"all\" is those on PATH, empty none")
	flags.IntVar(&f.runs, "runs", 7, "timed runs of each query")
	flags.DurationVar(&f.peerBudget, "peer-budget", 10*time.Second, "time a peer may take for the timed runs of one query")
	flags.StringVar(&f.json, "json", "", "file to write the report to as JSON")
	flags.StringVar(&f.benchmarks, "bench", "", "file to write Go benchmark lines to, for benchstat")
	flags.StringVar(&f.html, "html", "", "file to write the report to as one page with plots")
	flags.BoolVar(&f.strict, "strict", false, "exit with 1 also if a target is missed")
	flags.StringVar(&f.token, "token", "", "access token to send")
	flags.Func("serve-arg", "argument to add to trawl serve; may be repeated", func(s string) error {
		f.serveArgs = append(f.serveArgs, s)
		return nil
	})
	f.phases.define(flags)
	if err := parse(flags, args, 0, stderr); err != nil {
		return f, err
	}
	return f, errors.Join(f.phases.complete(flags), f.check())
}

func (f runFlags) check() error {
	switch {
	case f.corpus == "":
		return errors.New("--corpus is missing: which directory is to be searched?")
	case f.runs < 1:
		return fmt.Errorf("--runs %d: at least one run is needed to have a time", f.runs)
	case f.reuse && f.data == "":
		return errors.New("--reuse needs --data, the directory of the earlier run")
	}
	return nil
}

// config reads what the flags name and makes the run out of it.
func (f runFlags) config() (bench.Config, error) {
	c := bench.Config{
		Trawl: f.trawl, Corpus: f.corpus, Work: f.data, Reuse: f.reuse, Runs: f.runs, PeerBudget: f.peerBudget,
		Token: f.token, ServeArgs: f.serveArgs,
		Peers: strings.FieldsFunc(f.peers, func(r rune) bool { return r == ',' }),
	}
	switch {
	case f.peers == everyPeer:
		c.Peers = nil
	case c.Peers == nil:
		c.Peers = []string{}
	}
	f.phases.apply(&c)
	var err error
	if c.Queries, err = loadQueries(f.queries); err != nil {
		return c, err
	}
	wanted, err := regexp.Compile(f.only)
	if err != nil {
		return c, fmt.Errorf("--only: %w", err)
	}
	c.Queries = slices.DeleteFunc(c.Queries, func(q bench.Query) bool { return !wanted.MatchString(q.Name) })
	if len(c.Queries) == 0 {
		return c, fmt.Errorf("--only %q leaves no query of %s", f.only, f.queries)
	}
	return c, nil
}

// loadQueries takes the name of a set that ships with the program or a file; a
// file called like a set is reached as ./kernel.
func loadQueries(name string) ([]bench.Query, error) {
	set, setErr := bench.QuerySet(name)
	if setErr == nil {
		return set, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w, and no file: %w", setErr, err)
	}
	queries, err := bench.ParseQueries(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return queries, nil
}

func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := readRunFlags(args, stderr)
	if err != nil {
		return err
	}
	c, err := f.config()
	if err != nil {
		return err
	}
	c.Progress = func(message string) { fmt.Fprintln(stderr, message) }
	return inScratch(ctx, &c.Trawl, c.Progress, func(_ *scratch) error {
		report, err := bench.Run(ctx, c)
		if err != nil {
			return err
		}
		report.Command = commandLine("run", args)
		return f.deliver(report, stdout)
	})
}

// deliver writes the report wherever the flags say and judges it.
func (f runFlags) deliver(report *bench.Report, stdout io.Writer) error {
	return judge(len(report.Problems) > 0 || f.strict && report.Missed() > 0,
		report.WriteText(stdout), writeFile(f.json, report.WriteJSON), writeFile(f.html, report.WriteHTML), writeFile(f.benchmarks, report.WriteBenchmarks))
}

// writeFile fills the file called name, or none if the name is empty.
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// judge returns why a report could not be written, or errBadRun if the run was bad.
func judge(bad bool, written ...error) error {
	if err := errors.Join(written...); err != nil || !bad {
		return err
	}
	return errBadRun
}
