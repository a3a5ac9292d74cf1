package manage

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/backup"
)

// Backups is what operations on backups act on. The work goes on in the background:
// only BackupStatus waits, for the destination, and no longer than its context says.
type Backups interface {
	BackupStatus(ctx context.Context) BackupStatus
	// BackUpNow begins the backup of the plan that would be next, as its schedule does.
	// Its errors and those of VerifyBackup are for site admins.
	BackUpNow() error
	// VerifyBackup begins to read every byte of a backup that the destination has.
	VerifyBackup(id string) error
}

// BackupStatus tells of the backups that a server makes by itself. No text of it has
// secrets.
type BackupStatus struct {
	// Plan is nil if the configuration file has none; Record is of all backups of the
	// data directory then, too. RecordError is why there is no record.
	Plan        *BackupPlan
	Record      backup.Record
	RecordError string
	// Elsewhere says that another node of the cluster makes the backups.
	Elsewhere bool
	// Running is the backup that is made, nil if none is.
	Running *BackupProgress
	Stored  StoredBackups
	// Checks has what became of the last verification of each backup, by its ID, as far
	// as this process remembers.
	Checks map[string]BackupCheck
}

// BackupPlan is what backups are made of, and when.
type BackupPlan struct {
	Destination string
	Every       time.Duration
	Mirrors     bool
	// Encrypted says by what, "" if by nothing.
	Encrypted string
	// Keep is zero if all are kept.
	Keep backup.Keep
}

// BackupProgress is how far work on a backup is.
type BackupProgress struct {
	Started     time.Time
	Destination string
	// Phase is one of those of backup.Progress, "" before the first.
	Phase                 string
	DoneBytes, TotalBytes int64
}

// StoredBackups is what a destination has.
type StoredBackups struct {
	// All has the newest first. Those without objects and error have not been read yet.
	All []backup.Summary
	// Seen is when the destination answered, zero for never; Error is what it answered
	// last instead of a list.
	Seen  time.Time
	Error string
	// Asked is since when it has been asked and has not answered, zero if it has.
	Asked time.Time
}

// BackupCheck is a verification of a backup.
type BackupCheck struct {
	BackupProgress
	// Ended is zero while it goes on.
	Ended time.Time
	// Decrypted says that content was looked at, not only what is stored.
	Decrypted bool
	// Damage is the first of what is wrong, More counts the rest.
	Damage []backup.Damage
	More   int
	// Error is why the backup could not be read at all, "" if it could.
	Error string
}

// BackupStatus tells of the backups of the server, for site admins.
func (o *Operations) BackupStatus(ctx context.Context) (BackupStatus, error) {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return BackupStatus{}, err
	}
	return o.Backups.BackupStatus(ctx), nil
}

// BackUpNow begins a backup out of turn, and writes that to the audit log.
func (o *Operations) BackUpNow() error {
	return o.onBackup("backup.create", "backup", o.Backups.BackUpNow)
}

// VerifyBackup begins to verify a backup, and writes that to the audit log.
func (o *Operations) VerifyBackup(id string) error {
	return o.onBackup("backup.verify", "backup:"+id, func() error { return o.Backups.VerifyBackup(id) })
}

func (o *Operations) onBackup(action, target string, begin func() error) error {
	if err := auth.RequireSiteAdmin(o.Actor); err != nil {
		return err
	}
	if err := begin(); err != nil {
		return refuse("%s", err)
	}
	return o.Registry.Log(o.by(), action, target, "")
}
