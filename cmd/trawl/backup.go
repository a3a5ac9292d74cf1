package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/backups"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/ingest"
	"github.com/trawlsearch/trawl/store/object"
)

const backupHelp = `Usage: trawl backup COMMAND

Backup copies a data directory to a destination and back: the index and all
text, users, tokens, OAuth apps, settings and search jobs. A server that uses
the directory goes on meanwhile. A destination is a folder, or s3://bucket/prefix
in a service that speaks the S3 protocol. AWS_ENDPOINT_URL, AWS_REGION,
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name the service and its credentials.

Only what is new is sent. Each backup is complete nevertheless: any of them can
be restored or deleted without the others.

  trawl backup create /backups/trawl
  trawl backup restore /backups/trawl --data /var/lib/trawl

With recipients or a passphrase, backups are encrypted as age does it. A
recipient is a public key: the private one, which age-keygen makes, is needed to
restore only, and should not be where backups are made. Losing it, or the
passphrase, is losing the backups.

trawl serve makes backups by itself if the configuration file says so: see
backup in "trawl help settings".`

// backupCommands are the subcommands of trawl backup.
type backupCommands struct{ *app }

func (a *app) backupCommand() *cobra.Command {
	c := backupCommands{a}
	cmd := &cobra.Command{Use: "backup", Short: "back up the data directory, and restore it", Long: backupHelp, Args: cobra.ArbitraryArgs, RunE: unknownCommand}
	cmd.AddCommand(c.create(), c.list(), c.verify(), c.restore(), c.prune())
	return cmd
}

// keyFlags are the files with keys that a command was given.
type keyFlags struct {
	recipients                                   []string
	recipientsFile, identityFile, passphraseFile string
}

// forWriting gives a command the flags to encrypt.
func (k *keyFlags) forWriting(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&k.recipients, "recipient", nil, "encrypt to this public key of age; may be given again")
	flags.StringVar(&k.recipientsFile, "recipients-file", "", "encrypt to the public keys in this file, one a line")
	flags.StringVar(&k.passphraseFile, "passphrase-file", "", "encrypt with the passphrase in the first line of this file")
}

// forReading gives a command the flags to decrypt.
func (k *keyFlags) forReading(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.identityFile, "identity-file", "", "decrypt with the private keys in this file, as age-keygen writes them")
	flags.StringVar(&k.passphraseFile, "passphrase-file", "", "decrypt with the passphrase in the first line of this file")
}

// keys reads the files. Secrets are never arguments: those everybody sees.
func (k *keyFlags) keys() (keys backup.Keys, err error) {
	for _, r := range k.recipients {
		keys.Recipients += strings.TrimSpace(r) + "\n"
	}
	if k.recipientsFile != "" {
		text, err := os.ReadFile(k.recipientsFile)
		if err != nil {
			return keys, fmt.Errorf("recipients file: %w", err)
		}
		keys.Recipients += string(text)
	}
	if k.identityFile != "" {
		text, err := os.ReadFile(k.identityFile)
		if err != nil {
			return keys, fmt.Errorf("identity file: %w", err)
		}
		keys.Identities = string(text)
	}
	if k.passphraseFile != "" {
		keys.Passphrase, err = backups.ReadPassphrase(k.passphraseFile)
	}
	return keys, err
}

// absolute writes a destination so that it reads the same in any directory.
func absolute(destination string) (string, error) {
	if strings.Contains(destination, "://") {
		return destination, nil
	}
	if destination == "" {
		return "", errors.New("the destination is empty: write a path, or s3://bucket/prefix")
	}
	path, err := filepath.Abs(destination)
	if err != nil {
		return "", fmt.Errorf("destination: %w", err)
	}
	return path, nil
}

// openDestination opens what a person wrote.
func openDestination(text string) (object.Store, error) {
	path, err := absolute(text)
	if err != nil {
		return nil, err
	}
	return backups.OpenDestination(path)
}

const backupCreateHelp = `Usage: trawl backup create [flags] DEST

Create makes a backup. If a server has the data directory open, it does the work,
with its own environment. Searching and indexing go on, and the backup has the
data as of its start. An interrupted backup leaves earlier ones as they were, and
the next one continues it.

Git mirrors are left out, as they can be fetched again, unless --mirrors is
given. Files that have not changed since the last backup are known by name, size
and time; --read-all reads them too.

  trawl backup create /backups/trawl
  trawl backup create --recipient age1… --mirrors s3://bucket/trawl`

func (a backupCommands) create() *cobra.Command {
	cmd := &cobra.Command{Use: "create", Short: "make a backup", Long: backupCreateHelp, Args: arguments(1, 1, "a destination")}
	var keys keyFlags
	keys.forWriting(cmd)
	ask := admin.Backup{}
	cmd.Flags().BoolVar(&ask.Mirrors, "mirrors", false, "take git mirrors in")
	cmd.Flags().BoolVar(&ask.ReadAll, "read-all", false, "read files that seem unchanged, too")
	return a.subcommand(cmd, "print what was done as one line of JSON", []string{"data", "memory"},
		func(ctx context.Context, w *worker, asJSON bool, args []string) (err error) {
			k, err := keys.keys()
			if err != nil {
				return err
			}
			ask.Recipients, ask.Passphrase = k.Recipients, k.Passphrase
			if ask.Destination, err = absolute(args[0]); err != nil {
				return err
			}
			task := w.display.Start("backup")
			res, err := w.Backup(ctx, ask, func(p admin.Progress) {
				task.Report(ingest.Progress{Phase: p.Phase, Done: p.Done, Total: p.Total})
			})
			if err != nil {
				task.Fail(err)
				return err
			}
			task.Done(progress.Summary{Note: backupNote(res), Took: time.Duration(res.TookMillis) * time.Millisecond})
			if asJSON {
				return w.printJSON(res)
			}
			return nil
		})
}

// backupNote returns the result of a backup as a line.
func backupNote(r admin.BackupResult) string {
	return fmt.Sprintf("%s has %s, %s of it new (%s sent)", r.ID, progress.Size(r.Bytes), progress.Size(r.ReadBytes), progress.Size(r.SentBytes))
}

// offline gives a command that needs a destination only its flags and output.
func (a backupCommands) offline(cmd *cobra.Command, jsonHelp string, work func(ctx context.Context, out output, asJSON bool, args []string) error) *cobra.Command {
	settings := settingFlags(cmd, "log-level")
	asJSON := cmd.Flags().Bool("json", false, jsonHelp)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		return work(cmd.Context(), a.taskOutput(set), *asJSON, args)
	}
	return cmd
}

// reporter shows on a task how far work on backups is.
func reporter(task *progress.Task) func(backup.Progress) {
	return func(p backup.Progress) {
		task.Report(ingest.Progress{Phase: p.Phase, Done: int(p.DoneBytes), Total: int(p.TotalBytes)})
	}
}
