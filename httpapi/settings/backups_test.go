package settings_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/identity"
)

// backups are those of a test, and what was begun.
type backups struct {
	status  manage.BackupStatus
	begun   []string
	refuse  error
	bounded bool
}

func (b *backups) BackupStatus(ctx context.Context) manage.BackupStatus {
	_, b.bounded = ctx.Deadline()
	return b.status
}

func (b *backups) BackUpNow() error { return b.begin("now") }

func (b *backups) VerifyBackup(id string) error { return b.begin(id) }

func (b *backups) begin(what string) error {
	if b.refuse == nil {
		b.begun = append(b.begun, what)
	}
	return b.refuse
}

// backupDay is when the backups of tests are made.
var backupDay = time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC)

// planned is a server that makes backups, and a destination with three of them.
func planned() manage.BackupStatus {
	good := &backup.Run{Started: backupDay, Destination: "/srv/<b>backups", Backup: "good", Bytes: 3_000_000, SentBytes: 20_000, TookMillis: 1500}
	return manage.BackupStatus{
		Plan:   &manage.BackupPlan{Destination: "/srv/<b>backups", Every: 24 * time.Hour, Keep: backup.Keep{Last: 3, Weekly: 4}},
		Record: backup.Record{Last: good, LastGood: good},
		Stored: manage.StoredBackups{Seen: backupDay, All: []backup.Summary{
			{Backup: backup.Backup{ID: "third", Created: backupDay}, Objects: 4, StoredBytes: 2_500_000, Readable: true, Mirrors: true, Files: 12, Bytes: 3_000_000, Program: "trawl <i>" + strings.Repeat("x", 10_000)},
			{Backup: backup.Backup{ID: "second", Created: backupDay}, Objects: 4, Encrypted: true},
			{Backup: backup.Backup{ID: "first", Created: backupDay}, Err: errors.New("s3://me:secret@bucket/x: <script>alert(1)</script> is damaged")},
			{Backup: backup.Backup{ID: "oldest", Created: backupDay}},
		}},
	}
}

func TestBackups(t *testing.T) {
	w, root := newAdminWorld(t)
	page := root.get("/site-admin/backups")
	w.has("without a plan", page, 200, "makes no backups by itself", "to: /backups/trawl", "docs/backup.md", "trawl backup create")
	w.hasNot("without a plan", page, "Back up now")

	w.backups.status = planned()
	page = root.get("/site-admin/backups")
	w.has("planned", page, 200, "/srv/<b>backups", "24h,", "3 last, 4 weekly", "3.0 MB, 20.0 kB of it sent, in 1.5 s", "trawl <i>xxx", "data and mirrors", "encrypted", "not read yet",
		"<script>alert(1)</script> is damaged", "unknown", "2.5 MB", "Back up now", `aria-label="Verify third"`)
	w.hasNot("planned", page, "secret", "The last backup failed", "Last good one")
	if len(page.text) > 40<<10 {
		t.Errorf("the page has %d bytes", len(page.text))
	}
	if !w.backups.bounded {
		t.Error("the page waits for the destination as long as that takes")
	}

	w.has("begun", root.follow(root.post("/site-admin/backups", nil)), 200, "A backup begins")
	w.logged("backup.create", "backup", "root")
	w.has("verified", root.follow(root.post("/site-admin/backups/verify", url.Values{"backup": {"second"}, "page": {"1"}})), 200, "every byte")
	w.logged("backup.verify", "backup:second", "root")
	w.backups.refuse = errors.New("a backup is being made <b>already")
	w.has("again", root.post("/site-admin/backups", nil), 422, "is being made <b>already")
	w.has("again", root.post("/site-admin/backups/verify", url.Values{"backup": {"<i>"}}), 422, "is being made <b>already")
	if got := strings.Join(w.backups.begun, " "); got != "now second" {
		t.Errorf("begun %q, want now and second", got)
	}

	w.backups = nil
	w.has("while opening", root.get("/site-admin/backups"), 503, "opening data directory")
	w.has("while opening", root.post("/site-admin/backups", nil), 503, "opening data directory")
	w.has("while opening", root.post("/site-admin/backups/verify", url.Values{"backup": {"first"}}), 503, "opening data directory")
}

// The page tells what is at work, and what has gone wrong.
func TestBackupsAtWork(t *testing.T) {
	w, root := newAdminWorld(t)
	s := planned()
	s.Running = &manage.BackupProgress{Started: backupDay, Destination: "/srv/<b>backups", Phase: backup.PhaseSend, DoneBytes: 1_000_000, TotalBytes: 4_000_000}
	s.Checks = map[string]manage.BackupCheck{
		"third":  {BackupProgress: manage.BackupProgress{Phase: backup.PhaseVerify, DoneBytes: 2_000_000, TotalBytes: 5_000_000}},
		"second": {Ended: backupDay},
		"first":  {Ended: backupDay, Decrypted: true, Damage: []backup.Damage{{Name: "objects/<b>1", Why: "it is <i>short"}}, More: 1234},
		"oldest": {Ended: backupDay, Error: "there is no <u>such backup"},
	}
	w.backups.status = s
	page := root.get("/site-admin/backups")
	w.has("at work", page, 200, "A backup is being made", "sending 1.0 MB of 4.0 MB", "being read", "reading 2.0 MB of 5.0 MB", "no private key", "objects/<b>1", "it is <i>short", "1,234 more", "no <u>such backup")
	w.hasNot("at work", page, "Back up now", `aria-label="Verify`)

	s = planned()
	s.Elsewhere, s.Stored.Error, s.Record.Last = true, "no <connection>", &backup.Run{Started: backupDay, Destination: "x", Error: "the disk is <full>"}
	w.backups.status = s
	page = root.get("/site-admin/backups")
	w.has("failing", page, 200, "The last backup failed: the disk is <full>", "Last good one", "Another node", "cannot be read: no <connection>", "This is what it had", "third")
	w.hasNot("failing", page, "Back up now")

	s.Stored = manage.StoredBackups{Asked: backupDay}
	w.backups.status = s
	page = root.get("/site-admin/backups")
	w.has("silent", page, 200, "has not answered yet")
	w.hasNot("silent", page, "There are none yet", "This is what it had")
}

func TestBackupsAreForSiteAdmins(t *testing.T) {
	w, _ := newAdminWorld(t)
	w.backups.status = planned()
	w.SignUp(identity.NewUser{Name: "ann"})
	ann := w.as("ann")
	w.has("the page by ann", ann.get("/site-admin/backups"), 403)
	w.has("a backup by ann", ann.post("/site-admin/backups", nil), 403)
	w.has("a verification by ann", ann.post("/site-admin/backups/verify", url.Values{"backup": {"first"}}), 403)
	w.hasNot("the settings of ann", ann.get("/users/ann/settings"), "/site-admin/backups")
	if len(w.backups.begun) > 0 {
		t.Errorf("%q were begun by ann", w.backups.begun)
	}
}
