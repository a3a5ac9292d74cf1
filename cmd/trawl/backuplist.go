package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/print"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/object"
)

const backupListHelp = `Usage: trawl backup list [flags] DEST

List shows the backups at a destination, the oldest first: what they hold, and
the size of all that they are made of, most of which they share with others. Of
an encrypted backup only that size shows, unless a key is given.

  trawl backup list /backups/trawl`

// listedBackup is a backup as JSON; Files and Bytes are 0 and Readable false
// for one that is encrypted and has no key, and Error is set for one that is
// damaged.
type listedBackup struct {
	ID          string    `json:"id"`
	Created     time.Time `json:"created"`
	Encrypted   bool      `json:"encrypted,omitempty"`
	Readable    bool      `json:"readable"`
	Mirrors     bool      `json:"mirrors,omitempty"`
	Program     string    `json:"program,omitempty"`
	Files       int       `json:"files"`
	Bytes       int64     `json:"bytes"`
	Objects     int       `json:"objects"`
	StoredBytes int64     `json:"storedBytes"`
	Error       string    `json:"error,omitempty"`
}

func (a backupCommands) list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "show the backups at a destination", Long: backupListHelp, Args: arguments(1, 1, "a destination")}
	var keys keyFlags
	keys.forReading(cmd)
	return a.offline(cmd, "print each backup as one line of JSON", func(ctx context.Context, _ output, asJSON bool, args []string) error {
		k, err := keys.keys()
		if err != nil {
			return err
		}
		dest, err := openDestination(args[0])
		if err != nil {
			return err
		}
		all, err := backup.List(ctx, dest)
		if err != nil {
			return err
		}
		var shown []listedBackup
		for _, b := range all {
			entry := describeBackup(ctx, dest, k, b)
			if err := ctx.Err(); err != nil {
				return err
			}
			if asJSON {
				if err := a.printJSON(entry); err != nil {
					return err
				}
			}
			shown = append(shown, entry)
		}
		if asJSON {
			return nil
		}
		return a.printBackups(shown)
	})
}

func describeBackup(ctx context.Context, dest object.Store, keys backup.Keys, b backup.Backup) listedBackup {
	m := backup.Summarize(ctx, dest, keys, b)
	out := listedBackup{
		ID: b.ID, Created: b.Created, Encrypted: m.Encrypted, Readable: m.Readable, Mirrors: m.Mirrors, Program: m.Program,
		Files: m.Files, Bytes: m.Bytes, Objects: m.Objects, StoredBytes: m.StoredBytes,
	}
	if m.Err != nil {
		out.Error = m.Err.Error()
	}
	return out
}

func (a backupCommands) printBackups(all []listedBackup) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tCREATED\tFILES\tSIZE\tSTORED\tHOLDS\tERROR")
	for _, b := range all {
		files, size := "-", "-"
		if b.Readable {
			files, size = strconv.Itoa(b.Files), progress.Size(b.Bytes)
		}
		holds := []string{"data"}
		if b.Mirrors {
			holds = append(holds, "mirrors")
		}
		if b.Encrypted {
			holds = []string{"encrypted"}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.ID, b.Created.UTC().Format(time.RFC3339), files, size,
			progress.Size(b.StoredBytes), strings.Join(holds, "+"), orDash(print.Line(b.Error)))
	}
	return w.Flush()
}
