package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/disk"
)

const backupRestoreHelp = `Usage: trawl backup restore [flags] DEST

Restore makes a data directory of a backup, of the newest if none is named. The
directory must not exist, or be empty; one that is there may be a mount point or a
link, and stays. The data appears when everything was checked; an interrupted
restore is begun again.

Every file is verified against the backup before. With --check the data in the
files is verified as well, as by "trawl check --quick", which finds damage from
before the backup. Exit status 1 says that there is some; the directory stays,
and "trawl check --repair" repairs what it can.

Users, tokens, sessions and OAuth apps are those at the time of the backup. A
server that is started on the directory brings repositories up to date, and
fetches mirrors if the backup has none.

  trawl backup restore /backups/trawl --data /var/lib/trawl`

// restored is what restore did, as JSON.
type restored struct {
	Backup     string    `json:"backup"`
	Created    time.Time `json:"created"`
	Data       string    `json:"data"`
	Files      int       `json:"files"`
	Bytes      int64     `json:"bytes"`
	TookMillis int64     `json:"tookMillis"`
}

func (a backupCommands) restore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore", Short: "make a data directory of a backup", Long: backupRestoreHelp, Args: arguments(1, 1, "a destination")}
	var keys keyFlags
	keys.forReading(cmd)
	id := cmd.Flags().String("backup", "", "the ID of the backup (default: the newest)")
	verify := cmd.Flags().Bool("check", false, "verify the restored directory, as trawl check --quick does")
	asJSON := cmd.Flags().Bool("json", false, "print what was done as one line of JSON")
	settings := settingFlags(cmd, "data", "log-level")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		k, err := keys.keys()
		if err != nil {
			return err
		}
		dest, err := openDestination(args[0])
		if err != nil {
			return err
		}
		if err := leadsSomewhere(set.Data); err != nil {
			return err
		}
		task, begun := a.taskOutput(set).display.Start("restore"), time.Now()
		res, err := backup.Restore(cmd.Context(), dest, disk.OS(), set.Data, backup.RestoreOptions{Keys: k, Backup: *id, Report: reporter(task)})
		if err != nil {
			task.Fail(err)
			return hintRestore(err)
		}
		took := time.Since(begun)
		task.Done(progress.Summary{Note: fmt.Sprintf("%s of %s, %s", res.Backup, res.Created.Format(time.RFC3339), progress.Size(res.Bytes)), Took: took})
		if *asJSON {
			if err := a.printJSON(restored{res.Backup, res.Created, set.Data, res.Files, res.Bytes, took.Milliseconds()}); err != nil {
				return err
			}
		}
		if *verify {
			c := &checkup{app: a.app, quick: true, asJSON: *asJSON}
			return c.run(cmd.Context(), set)
		}
		return nil
	}
	return cmd
}

// leadsSomewhere refuses a path with a symbolic link to nothing: it looks like one
// of which nothing is there, and no directory can be made of it.
func leadsSomewhere(path string) error {
	info, err := os.Lstat(path)
	if parent := filepath.Dir(path); errors.Is(err, os.ErrNotExist) && parent != path {
		return leadsSomewhere(parent)
	}
	if err != nil || info.Mode().Type() != os.ModeSymlink {
		return nil // or the restore reports it
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	to, err := os.Readlink(path)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return fmt.Errorf("data: %s is a symbolic link to %s, which is not there: make that directory, or give another --data", path, to)
}

// hintRestore says what to do about what a person can mend.
func hintRestore(err error) error {
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		return fmt.Errorf("%w: give another --data", err)
	case errors.Is(err, backup.ErrNoSuchBackup):
		return fmt.Errorf(`%w: "trawl backup list" shows what there is`, err)
	case errors.Is(err, backup.ErrNoKey):
		return fmt.Errorf("%w: --identity-file and --passphrase-file do that", err)
	case errors.Is(err, store.ErrCorrupt):
		return fmt.Errorf(`%w: nothing was restored; "trawl backup verify" tells which backups are sound, --backup takes one of them`, err)
	}
	return err
}
