package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const repoListHelp = `Usage: trawl repo list [flags]

List shows every repository by name: its default branch and the commit of it
that is searched, how many other branches are indexed ("--json" names them), how
many documents and how much text they hold, how many documents were skipped
("trawl repo skipped" says why), how many commits are kept and how many of them
with their diffs, when the source was last looked at, and why the
last sync failed, if it did.

  trawl repo list --json | jq -r 'select(.error) | .name'`

func (a repoCommands) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "show the repositories", Long: repoListHelp, Args: arguments(0, 0, "no argument")}
	return a.subcommand(cmd, "print each repository as one line of JSON", []string{"data", "memory"},
		func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
			all, err := remote.Get(ctx, w.Client, admin.ListRepositories)
			if err != nil {
				return err
			}
			slices.SortFunc(all, func(a, b admin.Repository) int { return cmp.Compare(a.Name, b.Name) })
			if asJSON {
				for _, r := range all {
					if err := w.printJSON(r); err != nil {
						return err
					}
				}
				return nil
			}
			return a.printTable(all, time.Now())
		})
}

func (a *app) printJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = a.stdout.Write(append(data, '\n'))
	return err
}

func (a repoCommands) printTable(all []admin.Repository, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.stderr, "trawl: there are no repositories yet: add some with trawl repo add PATH-OR-URL")
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tBRANCH\tCOMMIT\tOTHERS\tDOCUMENTS\tTEXT\tSKIPPED\tCOMMITS\tDIFFS\tAGE\tERROR")
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%s\t%.12s\t%d\t%d\t%s\t%d\t%s\t%d\t%s\t%s\n", r.Name, orDash(r.Branch), orDash(r.Commit), len(r.Branches),
			r.Documents, progress.Size(r.TextBytes), r.Skipped, commits(r), r.History.Diffs, age(r.LastFetched, now), orDash(wrong(r, now)))
	}
	return w.Flush()
}

// wrong tells why a repository is not found, or not as it is.
func wrong(r admin.Repository, now time.Time) string {
	var all []string
	if !r.HiddenSince.IsZero() {
		all = append(all, "hidden: its code host has not listed it for "+age(r.HiddenSince, now))
	}
	if r.Error != "" {
		all = append(all, print.Line(r.Error))
	}
	return strings.Join(all, "; ")
}

// commits returns how many are indexed, with a sign that more are to be read.
func commits(r admin.Repository) string {
	n := strconv.Itoa(r.History.Commits)
	if r.History.Reading {
		n += "..."
	}
	return n
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// age returns roughly how long ago a time was.
func age(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return ago(max(now.Sub(t), 0))
}

// ago writes a length of time roughly.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

const repoSkippedHelp = `Usage: trawl repo skipped [flags] NAME

Skipped lists the documents of a repository whose content is not searched, with
the reason and the size; they are still found by their path.

  trawl repo skipped lab/kiln`

func (a repoCommands) skipped() *cobra.Command {
	cmd := &cobra.Command{Use: "skipped", Short: "list what is not searched, and why", Long: repoSkippedHelp, Args: arguments(1, 1, "the name of a repository")}
	return a.subcommand(cmd, "print each document as one line of JSON", []string{"data", "memory"},
		func(ctx context.Context, w *worker, asJSON bool, args []string) error {
			table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
			err := w.Skipped(ctx, args[0], func(d admin.Skipped) error {
				if asJSON {
					return w.printJSON(d)
				}
				_, err := fmt.Fprintf(table, "%s\t%s\t%s\n", print.Line(d.Path), d.Reason, progress.Size(d.Bytes))
				return err
			})
			return known(errors.Join(err, table.Flush()))
		})
}
