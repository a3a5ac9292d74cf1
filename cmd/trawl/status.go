package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const statusHelp = `Usage: trawl status [flags]

Status prints the state of a data directory: running and waiting syncs, the
sources that were looked at longest ago, disk, memory and running searches, and,
of a running server, its start and whether it is ready. Without a server it
prints what the directory itself holds.

The exit status is 0 if all is well, and 1 if the server is not ready, a sync or
the last backup failed, a shard is damaged, or the disk is nearly full.

  trawl status
  trawl status --json | jq .repositories.lags`

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "show how the server and its data directory are", Long: statusHelp, Args: arguments(0, 0, "no argument")}
	return a.subcommand(cmd, "print all of it as one line of JSON", []string{"data", "memory"}, func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
		s, err := remote.Get(ctx, w.Client, admin.ReadStatus)
		if err != nil {
			return err
		}
		if asJSON {
			err = w.printJSON(s)
		} else {
			err = printStatus(w.stdout, s, time.Now())
		}
		if err == nil && len(complaints(s)) > 0 {
			return errNothing
		}
		return err
	})
}

// complaints are the faults that the operator should repair.
func complaints(s admin.Status) (all []string) {
	if s.Serving && !s.Ready {
		all = append(all, "not ready: "+s.Waiting)
	}
	if n := s.Repositories.Failing; n > 0 {
		all = append(all, fmt.Sprintf("%d of %d repositories could not be synced", n, s.Repositories.Total))
	}
	if n := len(s.Index.Aside); n > 0 {
		all = append(all, fmt.Sprintf("%d of %d shards are damaged and set aside: %s", n, s.Index.Shards, s.Index.Aside[0].Reason))
	}
	if n := len(s.Index.Unreadable); n > 0 {
		all = append(all, fmt.Sprintf("%s damaged, see trawl check: %s", progress.CountedAs(n, "record is", "records are"), s.Index.Unreadable[0]))
	}
	if s.Backup.Error != "" {
		all = append(all, "the last backup failed: "+s.Backup.Error)
	}
	all = append(all, clusterComplaints(s.Cluster, time.Now())...)
	switch {
	case s.Disk.Low:
		all = append(all, fmt.Sprintf("the disk is nearly full: indexing goes on when %s are free", size(s.Disk.MinFree)))
	case s.Disk.Stopped != "":
		all = append(all, "indexing has stopped: "+s.Disk.Stopped)
	}
	return all
}

// lagsShown is how many repositories are named.
const lagsShown = 10

func printStatus(out io.Writer, s admin.Status, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	version := s.Version
	if s.Revision != "" {
		version += " (commit " + s.Revision + ")"
	}
	row("version", "%s, format %d", version, s.Format)
	row("data", "%s", s.Data)
	switch {
	case !s.Serving:
		row("server", "none runs")
	case s.Ready:
		row("server", "ready, process %d, up %s", s.PID, age(s.Started, now))
	default:
		row("server", "not ready, process %d, up %s", s.PID, age(s.Started, now))
	}
	for i, c := range complaints(s) {
		name := ""
		if i == 0 {
			name = "attention"
		}
		row(name, "%s", print.Line(c))
	}
	row("repositories", "%d, %d indexed, %d failing", s.Repositories.Total, s.Repositories.Indexed, s.Repositories.Failing)
	if s.Repositories.Total > 0 {
		row("looked at", "%s", lagLine(s.Repositories))
	}
	row("queue", "%s", queueLine(s.Queue, now))
	if s.Serving {
		row("searches", "%d at work, %d waiting, at most %d", s.Searches.AtWork, s.Searches.Waiting, s.Searches.Most)
		row("memory", "%s of %s, at most %s so far", size(s.Memory.Now), size(s.Memory.Setting), size(s.Memory.Peak))
	}
	row("index", "%s of files and commits in %s, %s of text", progress.Counted(s.Index.Documents-s.Index.Dead, "document"), progress.Counted(s.Index.Shards, "shard"), size(s.Index.TextBytes))
	if n := s.Index.Outdated; n > 0 {
		row("", "%s of an older index to rewrite", progress.Counted(n, "shard"))
	}
	row("disk", "index %s, mirrors %s, %s free of %s", size(s.Disk.Index), size(s.Disk.Mirrors), size(s.Disk.Free), size(s.Disk.Total))
	if b := s.Backup; !b.Last.IsZero() {
		row("backup", "last good one %s, to %s", age(b.LastGood, now), b.Destination)
	}
	printLags(w, s.Repositories.Lags)
	return w.Flush()
}

// lagLine says how long ago the sources of all repositories were looked at.
func lagLine(r admin.StatusRepositories) string {
	since := func(seconds float64) string { return ago(time.Duration(seconds * float64(time.Second))) }
	return fmt.Sprintf("half within %s, 99 of 100 within %s, all within %s", since(r.MedianSeconds), since(r.P99Seconds), since(r.OldestSeconds))
}

// printLags names the repositories that were looked at longest ago.
func printLags(w io.Writer, lags []admin.StatusLag) {
	if len(lags) == 0 {
		return
	}
	fmt.Fprintln(w, "\nREPOSITORY\tLOOKED AT\tERROR")
	for i, l := range lags {
		if i == lagsShown {
			fmt.Fprintf(w, "and %s more\tlater\t\n", progress.Count(len(lags)-i))
			return
		}
		ago := ago(time.Duration(l.Seconds*float64(time.Second))) + " ago"
		if !l.Indexed {
			ago = "never indexed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Name, ago, orDash(print.Line(l.Error)))
	}
}

func queueLine(q admin.StatusQueue, now time.Time) string {
	line := "nothing is synced"
	if q.Running != "" {
		line = "syncing " + q.Running + " for " + age(q.Since, now)
		if q.Phase != "" {
			line += ", " + q.Phase
		}
		if q.Total > 0 {
			line += fmt.Sprintf(" %d of %d", q.Done, q.Total)
		}
	}
	if q.Fetching > 1 {
		line += fmt.Sprintf(", %d fetched at once", q.Fetching)
	}
	return line + fmt.Sprintf(", %d waiting", q.Waiting)
}

func size(bytes uint64) string { return progress.Size(int64(bytes)) }
