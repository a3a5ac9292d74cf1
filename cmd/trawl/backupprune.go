package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store/backup"
)

const backupPruneHelp = `Usage: trawl backup prune [flags] DEST

Prune deletes the backups that no rule keeps, and the content that no backup
needs any more. Rules add up; days, weeks from Monday, months and years are those
of UTC, and of each the newest backup counts. It needs no key, and may run while
a backup is made: content then stays until the next prune.

  trawl backup prune /backups/trawl --keep-last 3 --keep-daily 7 --keep-weekly 4`

// pruned is what prune did, as JSON.
type pruned struct {
	DryRun  bool           `json:"dryRun,omitempty"`
	Kept    []prunedBackup `json:"kept"`
	Removed []prunedBackup `json:"removed"`
	Objects int            `json:"objects"`
	Bytes   int64          `json:"bytes"`
	Busy    bool           `json:"busy,omitempty"`
}

type prunedBackup struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Why     []string  `json:"why,omitempty"`
}

func (a backupCommands) prune() *cobra.Command {
	cmd := &cobra.Command{Use: "prune", Short: "delete old backups", Long: backupPruneHelp, Args: arguments(1, 1, "a destination")}
	flags, o := cmd.Flags(), backup.PruneOptions{}
	flags.IntVar(&o.Keep.Last, "keep-last", 0, "keep that many of the newest")
	flags.IntVar(&o.Keep.Daily, "keep-daily", 0, "keep the newest of a day, for that many days that have one")
	flags.IntVar(&o.Keep.Weekly, "keep-weekly", 0, "the same for weeks")
	flags.IntVar(&o.Keep.Monthly, "keep-monthly", 0, "the same for months")
	flags.IntVar(&o.Keep.Yearly, "keep-yearly", 0, "the same for years")
	flags.BoolVar(&o.DryRun, "dry-run", false, "show what would be deleted")
	return a.offline(cmd, "print what was done as one line of JSON", func(ctx context.Context, out output, asJSON bool, args []string) error {
		k := o.Keep
		switch {
		case min(k.Last, k.Daily, k.Weekly, k.Monthly, k.Yearly) < 0:
			return errors.New("a number of backups to keep is not negative")
		case k == (backup.Keep{}):
			return errors.New("say what to keep, as with --keep-last 3 --keep-daily 7: without a rule nothing would be left")
		}
		dest, err := openDestination(args[0])
		if err != nil {
			return err
		}
		task, begun := out.display.Start("prune"), time.Now()
		o.Report = reporter(task)
		res, err := backup.Prune(ctx, dest, o)
		if err != nil {
			task.Fail(err)
			return err
		}
		task.Done(progress.Summary{Note: pruneNote(res, o.DryRun), Took: time.Since(begun)})
		if asJSON {
			return a.printJSON(newPruned(res, o.DryRun))
		}
		return a.printPruned(res)
	})
}

func pruneNote(p backup.Pruned, dry bool) string {
	does := "deleted"
	if dry {
		does = "would delete"
	}
	note := fmt.Sprintf("%s %s and %s of content", does, progress.Counted(len(p.Removed), "backup"), progress.Size(p.Bytes))
	if p.Busy {
		note += "; a backup is being made, so content stays until the next prune;"
	}
	return note
}

func newPruned(p backup.Pruned, dry bool) pruned {
	out := pruned{DryRun: dry, Kept: []prunedBackup{}, Removed: []prunedBackup{}, Objects: p.Objects, Bytes: p.Bytes, Busy: p.Busy}
	for _, b := range p.Kept {
		out.Kept = append(out.Kept, prunedBackup{b.ID, b.Created, p.Why[b.ID]})
	}
	for _, b := range p.Removed {
		out.Removed = append(out.Removed, prunedBackup{b.ID, b.Created, nil})
	}
	return out
}

func (a backupCommands) printPruned(p backup.Pruned) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, b := range p.Removed {
		fmt.Fprintf(w, "delete\t%s\t%s\t\n", b.ID, b.Created.Format(time.RFC3339))
	}
	for _, b := range p.Kept {
		fmt.Fprintf(w, "keep\t%s\t%s\t%s\n", b.ID, b.Created.Format(time.RFC3339), strings.Join(p.Why[b.ID], ", "))
	}
	return w.Flush()
}
