package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store"
)

const repoSetHelp = `Usage: trawl repo set [flags] NAME [FACT...]

Set says what is known about a repository besides its files. Searches go by it:
those with the most stars come first, forks and archived ones are left out of
searches that do not ask for them, and predicates such as repo:has.topic(clay)
and repo:has.meta(team:kiln) test the rest. A fact is

  stars=NUMBER
  fork=true, archived=true, private=true
  description=TEXT
  topics=TOPIC,TOPIC       all of them
  branches=GLOB,GLOB       which to index beside the default branch, at the next
                           sync: * stands for any text, ? for one character
  metadata.KEY=VALUE       one key; the others stay
  metadata.KEY             a tag: a key without a value

private=true is a label that visibility: selects by. It hides nothing: who may
see a repository is what "trawl repo readers" says.

Facts that are not named stay, --unset takes one away, and "trawl repo list
--json" shows them. Facts in the configuration file are set again when the file
changes or the server starts.

  trawl repo set lab/kiln stars=41 topics=clay,heat metadata.team=kiln
  trawl repo set lab/kiln --unset metadata.team --unset topics
  trawl repo set lab/kiln 'branches=main,release/*'`

func (a repoCommands) set() *cobra.Command {
	cmd := &cobra.Command{Use: "set", Short: "say what is known about a repository", Long: repoSetHelp, Args: arguments(1, -1, "the name of a repository")}
	unset := cmd.Flags().StringArray("unset", nil, "take this fact away, metadata.KEY or metadata for all keys; may be repeated")
	return a.subcommand(cmd, "print the repository as one line of JSON", []string{"data", "memory"},
		func(ctx context.Context, w *worker, asJSON bool, args []string) error {
			change, err := typedFacts(args[1:], *unset)
			if err != nil {
				return err
			}
			repo, err := remote.Call(ctx, w.Client, admin.ChangeFacts, admin.NewFacts(change), "name", args[0])
			switch {
			case err != nil:
				return known(err)
			case asJSON:
				return w.printJSON(repo)
			}
			return w.printChange(args[0], args[1:], *unset, change)
		})
}

// printChange prints a change, as it was typed, on standard error as syncs do.
// For a label that sounds like a lock it names the command that locks.
func (w *worker) printChange(name string, set, unset []string, c store.FactsChange) error {
	var parts []string
	if len(set) > 0 {
		parts = append(parts, "set "+strings.Join(set, ", "))
	}
	if len(unset) > 0 {
		parts = append(parts, "unset "+strings.Join(unset, ", "))
	}
	text := print.Line(name + ": " + strings.Join(parts, "; "))
	if c.Private != nil && *c.Private {
		text += "\ntrawl: private=true hides nothing: \"trawl repo readers\" says who may see the repository"
	}
	_, err := fmt.Fprintln(w.stderr, text)
	return err
}

var errNoFacts = errors.New("name a fact, as in stars=41 or --unset topics")

// typedFacts reads the facts of a command line.
func typedFacts(set, unset []string) (store.FactsChange, error) {
	var c store.FactsChange
	for _, name := range unset {
		if err := config.UnsetFact(&c, name); err != nil {
			return c, err
		}
	}
	for _, typed := range set {
		if err := config.SetFact(&c, typed); err != nil {
			return c, err
		}
	}
	if c.Empty() {
		return c, errNoFacts
	}
	return c, nil
}
