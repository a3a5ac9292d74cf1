package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/remote"
	"github.com/trawlsearch/trawl/httpapi/admin"
)

const auditHelp = `Usage: trawl audit COMMAND

Audit shows who changed users, tokens, permissions and repositories, who signed
in, and whose token acted as whom. Nothing of it can be changed; --audit-age and
--audit-entries of the server bound how much is kept.

  trawl audit list --since 24h`

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "show who did what", Long: auditHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(a.auditList())
	return cmd
}

const auditListHelp = `Usage: trawl audit list [flags]

List shows the newest entries of the audit log, the last one at the end: when,
who (as whom, if a token acted for another user), what, to what, and from where.

  trawl audit list --user ann --json`

func (a *app) auditList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "show the audit log", Long: auditListHelp, Args: arguments(0, 0, "no argument")}
	flags := cmd.Flags()
	since := flags.Duration("since", 0, "only entries that are not older than `TIME`")
	user := flags.String("user", "", "only what this user did, or what was done to them")
	limit := flags.Int("limit", 100, "at most `N` entries")
	return a.subcommand(cmd, "print each entry as one line of JSON", []string{"data", "memory"}, func(ctx context.Context, w *worker, asJSON bool, _ []string) error {
		from := ""
		if *since > 0 {
			from = time.Now().Add(-*since).UTC().Format(time.RFC3339Nano)
		}
		all, err := remote.Get(ctx, w.Client, admin.ListAudit, "limit", strconv.Itoa(*limit), "since", from, "user", *user)
		if err != nil {
			return knownUser(err)
		}
		slices.Reverse(all)
		if asJSON {
			return printEach(w, all)
		}
		return w.printAudit(all)
	})
}

func (w *worker) printAudit(all []admin.Entry) error {
	table := tabwriter.NewWriter(w.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tWHO\tACTION\tTARGET\tFROM\tDETAIL")
	for _, e := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Time.Format(time.DateTime), entryAuthor(e), e.Action, orDash(print.Line(e.Target)),
			orDash(strings.TrimSpace(e.Address+" "+e.Via)), print.Line(e.Detail))
	}
	return table.Flush()
}

func entryAuthor(e admin.Entry) string {
	switch {
	case e.Operator:
		return "(operator)"
	case e.Real != "":
		return e.Real + " as " + e.User
	}
	return orDash(e.User)
}
