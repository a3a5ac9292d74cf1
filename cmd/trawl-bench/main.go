package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `trawl-bench measures trawl from outside and checks its answers.

  trawl-bench run --corpus DIR [flags]    index DIR, ask queries, compare with rg, git grep, zoekt, csearch
  trawl-bench rank [flags]                ask judged queries, see how soon the wanted files come
  trawl-bench mine --repos A,B --out DIR  make a set of queries of the commits of repositories
  trawl-bench mined --set DIR [flags]     ask such a set, see how soon the files that were changed come
  trawl-bench history --repo DIR [flags]  find commits by message and diff, compare with git log
  trawl-bench kill [flags]                kill servers at work, see whether anything is lost
  trawl-bench backup --data DIR [flags]   back up, restore and compare the answers to generated queries
  trawl-bench load --data DIR [flags]     keep hundreds of slow streams open, ask and leave queries beside them
  trawl-bench attack --data DIR [flags]   send hostile queries, requests and connections, see what others notice
  trawl-bench many [flags]                index thousands of repositories, ask and change them, beside zoekt
  trawl-bench host [flags]                find the repositories of a code host and pushes to them, see how soon
  trawl-bench cluster [flags]             have nodes share a store, time changes, kill and cut off, see whether anything is lost
  trawl-bench agents --repositories DIR   answer questions with trawl's tools for agents, and with rg, see in how many calls
  trawl-bench pages --data DIR [flags]    open pages in a browser, time what is painted, count bytes and memory
  trawl-bench soak [flags]                change, search, back up and restart in rounds, see whether anything grows
  trawl-bench show [--html|--bench] FILE  print a report saved as JSON once more
  trawl-bench corpus --out DIR [flags]    generate a corpus

"trawl-bench COMMAND -h" lists the flags of a command. A first try, in the
folder of trawl's source:

  trawl-bench corpus --out /tmp/toy
  trawl-bench run --corpus /tmp/toy --queries small

Exit status: 0 for a good run, 1 if answers disagree or are incomplete (with
--strict also if a target is missed or ranks have become worse), 2 if something
could not be done.
`

// errBadRun says that the run was finished and its report has faults, which are
// printed already.
var errBadRun = errors.New("the run has problems")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := exitCode(run(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
	stop()
	os.Exit(code)
}

func exitCode(err error, stderr io.Writer) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errBadRun):
		return 1
	}
	fmt.Fprintf(stderr, "trawl-bench: %v\n", err)
	return 2
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errors.New("no command; \"trawl-bench help\" lists them")
	}
	commands := map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) error{
		"run": runCommand, "rank": rankCommand, "mine": mineCommand, "mined": minedCommand, "history": historyCommand,
		"kill": killCommand, "backup": backupCommand, "load": loadCommand, "attack": attackCommand, "many": manyCommand,
		"cluster": clusterCommand, "host": hostCommand, "agents": agentsCommand, "pages": pagesCommand, "soak": soakCommand,
		"show": showCommand, "corpus": corpusCommand,
	}
	switch command := commands[args[0]]; {
	case command != nil:
		return command(ctx, args[1:], stdout, stderr)
	case args[0] == "help", args[0] == "-h", args[0] == "--help":
		_, err := io.WriteString(stdout, usage)
		return err
	}
	return fmt.Errorf("unknown command %q; \"trawl-bench help\" lists them", args[0])
}

// newFlags returns an empty flag set that neither exits nor prints errors, so
// that they are printed once, by main.
func newFlags(command string) *flag.FlagSet {
	flags := flag.NewFlagSet("trawl-bench "+command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// parse reads args and refuses more than want words that belong to no flag.
// Asked for help it lists the flags.
func parse(flags *flag.FlagSet, args []string, want int, stderr io.Writer) error {
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		flags.PrintDefaults()
	}
	if err != nil {
		return err
	}
	if flags.NArg() > want {
		return fmt.Errorf("unexpected %q; flags stand before other words", flags.Arg(want))
	}
	return nil
}
