package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/check"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/redact"
	"github.com/trawlsearch/trawl/store/shard"
)

const checkHelp = `Usage: trawl check [flags]

Check verifies a data directory: every byte of its tables, every record and its
references, every document against the ID of its blob, every posting list
against the text, and every object of mirrors. It prints a line for each fault,
with the repair:

  rebuild   the shard is made anew from its repositories
  fetch     the mirror is fetched anew from its source
  drop      it has no owner, or is a session, reset or search job, which its user
            makes again; it can be deleted
  none      it does no harm, or is repaired with another fault
  restore   only a backup has it

With --repair the first three are done: damaged shards are quarantined, and their
repositories indexed again from their mirrors and paths. All others stay as they
are. A damaged mirror stays until there is a new one. With --quick posting lists
are decoded, but not made again, and files in mirrors are not read.

If a server has the data directory open, it does the work, on one snapshot of it,
and yields to searches. A server also quarantines and rebuilds the shards in
which its searches meet damage.

Exit status: 0 if nothing was wrong, 1 if something was, repaired or not, 2 if
it could not be found out.

  trawl check --data /var/lib/trawl
  trawl check --json | jq -r 'select(.repair == "restore") | .problem'`

func (a *app) checkCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "check", Short: "verify a data directory, and repair it", Long: checkHelp, Args: arguments(0, 0, "no argument")}
	settings := settingFlags(cmd, ingestSettings...)
	c := &checkup{app: a}
	cmd.Flags().BoolVar(&c.quick, "quick", false, "do not make posting lists again to compare them")
	cmd.Flags().BoolVar(&c.repair, "repair", false, "make anew what is damaged")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print each finding as one line of JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		if err := readable(cmd, set.Data); err != nil {
			return err
		}
		return c.run(cmd.Context(), set)
	}
	return cmd
}

// checkup is one run of trawl check.
type checkup struct {
	*app
	quick, repair, asJSON bool
	// found counts the findings, by their repair too.
	found   int
	repairs map[string]int
}

func (c *checkup) run(ctx context.Context, set config.Settings) (err error) {
	out := c.taskOutput(set)
	c.repairs = map[string]int{}
	s, err := openSession(ctx, set, service.Options{Log: out.log, Symbols: true, History: true})
	if shard.IsDamage(err) {
		return errors.Join(c.tell(admin.Finding{Where: "store", Problem: redact.Text(err.Error()), Repair: string(check.Restore)}), errFound)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	w := &worker{app: c.app, session: s, output: out}
	began, task := time.Now(), out.display.Start("check")
	err = s.Check(ctx, c.quick, c.repair, func(p admin.Progress) {
		task.Report(ingest.Progress{Phase: p.Phase, Note: p.Note, Done: p.Done, Total: p.Total, Bytes: p.Bytes})
	}, c.tell)
	if err != nil {
		task.Fail(err)
		return err
	}
	task.Done(progress.Summary{Note: c.summary(), Took: time.Since(began)})
	if c.found == 0 {
		return nil
	}
	if c.repair {
		w.symbols(ctx)
		w.history(ctx)
	}
	if w.failed.Load() {
		return errTold
	}
	return errFound
}

// tell prints a finding.
func (c *checkup) tell(f admin.Finding) error {
	c.found++
	c.repairs[f.Repair]++
	if c.asJSON {
		return c.printJSON(f)
	}
	place := f.Where
	if f.Shard != 0 {
		place = fmt.Sprintf("shard %d, %s", f.Shard, f.Where)
	}
	if len(f.Repositories) > 0 {
		place += " (" + strings.Join(f.Repositories, ", ") + ")"
	}
	_, err := fmt.Fprintf(c.stdout, "%s: %s; %s\n", print.Line(place), print.Line(f.Problem), f.Repair)
	return err
}

// summary is one line about what was found.
func (c *checkup) summary() string {
	mendable := c.repairs[string(check.Rebuild)] + c.repairs[string(check.Fetch)] + c.repairs[string(check.Drop)]
	switch {
	case c.found == 0:
		return "nothing is wrong, verified"
	case c.repair:
		return fmt.Sprintf("%s findings, %s repaired,", progress.Count(c.found), progress.Count(mendable))
	case mendable > 0:
		return fmt.Sprintf("%s findings, trawl check --repair mends %s, verified", progress.Count(c.found), progress.Count(mendable))
	}
	return fmt.Sprintf("%s findings, verified", progress.Count(c.found))
}
