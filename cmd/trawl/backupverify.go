package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/store/backup"
)

const backupVerifyHelp = `Usage: trawl backup verify [flags] DEST [BACKUP...]

Verify reads every byte of the named backups, of all if none is named, and
compares it with the checksums. Without a key, encrypted objects are verified as
they are stored; with one, their content is verified too. Verify names the
damaged objects and the backups and files that need them; the exit status is
then 2.

With --delete-damaged, damaged objects are deleted, so that the next backup sends
them again if their content is still there. Backups that need them are whole
again then, unless they are encrypted.

  trawl backup verify /backups/trawl`

// verified is what verify found, as JSON.
type verified struct {
	Backups   int             `json:"backups"`
	Objects   int             `json:"objects"`
	Bytes     int64           `json:"bytes"`
	Decrypted bool            `json:"decrypted"`
	Damage    []verifiedWrong `json:"damage,omitempty"`
}

type verifiedWrong struct {
	Name    string   `json:"name"`
	Why     string   `json:"why"`
	Backups []string `json:"backups"`
	Files   []string `json:"files,omitempty"`
	Deleted bool     `json:"deleted,omitempty"`
}

func (a backupCommands) verify() *cobra.Command {
	cmd := &cobra.Command{Use: "verify", Short: "read every byte of backups", Long: backupVerifyHelp, Args: arguments(1, -1, "a destination")}
	var keys keyFlags
	keys.forReading(cmd)
	deleteDamaged := cmd.Flags().Bool("delete-damaged", false, "delete what is damaged")
	return a.offline(cmd, "print what was found as one line of JSON", func(ctx context.Context, out output, asJSON bool, args []string) error {
		k, err := keys.keys()
		if err != nil {
			return err
		}
		dest, err := openDestination(args[0])
		if err != nil {
			return err
		}
		task, begun := out.display.Start("verify"), time.Now()
		v, err := backup.Verify(ctx, dest, backup.VerifyOptions{Keys: k, Backups: args[1:], DeleteDamaged: *deleteDamaged, Report: reporter(task)})
		if err != nil {
			task.Fail(err)
			return err
		}
		task.Done(progress.Summary{Note: verifyNote(v), Took: time.Since(begun)})
		if asJSON {
			err = a.printJSON(newVerified(v))
		} else {
			err = a.printDamage(v.Damage)
		}
		if err == nil && len(v.Damage) > 0 {
			return errTold
		}
		return err
	})
}

func verifyNote(v backup.Verified) string {
	note := fmt.Sprintf("%s, %s", progress.Counted(v.Backups, "backup"), progress.Size(v.Bytes))
	if !v.Decrypted {
		note += " as stored"
	}
	if len(v.Damage) == 0 {
		return note + ", all sound"
	}
	return fmt.Sprintf("%s, %d damaged", note, len(v.Damage))
}

func newVerified(v backup.Verified) verified {
	out := verified{Backups: v.Backups, Objects: v.Objects, Bytes: v.Bytes, Decrypted: v.Decrypted}
	for _, d := range v.Damage {
		out.Damage = append(out.Damage, verifiedWrong(d))
	}
	return out
}

func (a backupCommands) printDamage(all []backup.Damage) error {
	for _, d := range all {
		text := fmt.Sprintf("%s: %s; needed by %s", d.Name, d.Why, strings.Join(d.Backups, ", "))
		if len(d.Files) > 0 {
			text += " for " + strings.Join(d.Files, ", ")
		}
		if d.Deleted {
			text += "; deleted"
		}
		if _, err := fmt.Fprintln(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}
