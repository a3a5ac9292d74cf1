package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const clusterHelp = `Usage: trawl cluster COMMAND [flags]

Cluster looks after a store that several nodes share: trawl serve with the
settings authority and objects.

  trawl cluster status
  trawl cluster import --data /var/lib/trawl --authority postgres://trawl@db/trawl --objects s3://bucket/trawl`

const clusterStatusHelp = `Usage: trawl cluster status [flags]

Status prints the nodes of a cluster: where each is, when it was heard of last,
how many versions of the records it has still to apply, and what falls to it of
the work of all: so many of 64 parts, which repositories, shards and jobs are
spread over, and what one node does for all. It asks the node that serves the
data directory.

The exit status is 0 if all is well, and 1 if the database cannot be asked, a
node is silent, or the node that answers is behind.

  trawl cluster status
  trawl cluster status --json | jq .nodes`

// clusterCommands are the subcommands of trawl cluster.
type clusterCommands struct{ *app }

func (a *app) clusterCommand() *cobra.Command {
	c := clusterCommands{a}
	cmd := &cobra.Command{Use: "cluster", Short: "look after nodes that share a store", Long: clusterHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.status(), c.importing(), c.export())
	return cmd
}

// errNoCluster is the answer for a store of one machine.
var errNoCluster = errors.New("this data directory is a store of one machine: nodes share one with the settings authority and objects")

func (a clusterCommands) status() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "show the nodes of a cluster", Long: clusterStatusHelp, Args: arguments(0, 0, "no argument")}
	return a.subcommand(cmd, "print all of it as one line of JSON", []string{"data", "memory"}, func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
		s, err := remote.Get(ctx, w.Client, admin.ReadStatus)
		switch {
		case err != nil:
			return err
		case s.Cluster == nil:
			return errNoCluster
		case asJSON:
			err = w.printJSON(s.Cluster)
		default:
			err = printCluster(w.stdout, s.Cluster, time.Now())
		}
		if err == nil && len(clusterComplaints(s.Cluster, time.Now())) > 0 {
			return errNothing
		}
		return err
	})
}

// mostUnconfirmed is for how long a node may not have heard from its database before an
// operator should look.
const mostUnconfirmed = 5 * time.Second

// clusterComplaints are the faults that the operator should repair, none of a store of
// one machine.
func clusterComplaints(c *admin.StatusCluster, now time.Time) (all []string) {
	if c == nil {
		return nil
	}
	if c.Error != "" {
		all = append(all, "the database cannot be asked: "+c.Error)
	}
	if now.Sub(c.Confirmed) > mostUnconfirmed {
		all = append(all, "this node may be behind: it was current "+age(c.Confirmed, now)+" ago")
	}
	if c.Waiting != "" {
		all = append(all, "this node lacks the newest documents, as their shards cannot be fetched: "+c.Waiting)
	}
	if c.Fetching > 0 {
		all = append(all, progress.Counted(c.Fetching, "damaged shard")+" of this node wait to be fetched again")
	}
	if c.Unfetchable > 0 {
		all = append(all, progress.Counted(c.Unfetchable, "damaged shard")+" of this node cannot be fetched: no node has them whole, and they are indexed again")
	}
	for _, n := range c.Nodes {
		if !n.Live {
			all = append(all, fmt.Sprintf("node %s at %s was heard of last %s ago", n.ID, n.Address, age(n.Seen, now)))
		}
	}
	return all
}

func printCluster(out io.Writer, c *admin.StatusCluster, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("this node", "%s", c.Node)
	for i, text := range clusterComplaints(c, now) {
		name := ""
		if i == 0 {
			name = "attention"
		}
		row(name, "%s", print.Line(text))
	}
	behind := ""
	if n := c.Behind(c.Applied); n > 0 {
		behind = fmt.Sprintf(", %s behind", progress.Counted(int(n), "version"))
	}
	row("version", "%d%s, confirmed %s ago", c.Applied, behind, age(c.Confirmed, now))
	row("objects", "%s", c.Objects)
	if len(c.Nodes) > 0 {
		printNodes(w, c, now)
	}
	return w.Flush()
}

// printNodes prints a line for each node.
func printNodes(w io.Writer, c *admin.StatusCluster, now time.Time) {
	fmt.Fprintln(w, "\nNODE\tADDRESS\tUP\tHEARD OF\tBEHIND\tPARTS\tTASKS\tSHARDS\tINDEX\tFREE\tPROGRAM")
	for _, n := range c.Nodes {
		seen := age(n.Seen, now)
		if !n.Live {
			seen += ", silent"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%d\t%s\t%s\t%s\n", n.ID, orDash(print.Line(n.Address)), age(n.Started, now), seen, c.Behind(n.Applied), n.Parts,
			orDash(strings.Join(n.Tasks, ",")), n.Shards, size(n.Bytes), size(n.FreeBytes), orDash(print.Line(n.Version)))
	}
}
