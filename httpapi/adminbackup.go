package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/redact"
)

// AdminBackupsPath is where the admin route about backups is.
const AdminBackupsPath = "/.api/trawl/backups"

// Backups is what that route acts on.
type Backups interface {
	// Backup makes a backup. It calls report, which is not nil, from one
	// goroutine at a time.
	Backup(ctx context.Context, ask AdminBackup, report func(backup.Progress)) (backup.Result, error)
}

// What the admin route about backups reads and writes.
type (
	// AdminBackup asks for a backup.
	AdminBackup struct {
		// Destination is an absolute path or the address of a bucket.
		Destination string `json:"destination"`
		Mirrors     bool   `json:"mirrors,omitempty"`
		ReadAll     bool   `json:"readAll,omitempty"`
		// Recipients are public keys, one a line; Passphrase is another way to
		// encrypt.
		Recipients string `json:"recipients,omitempty"`
		Passphrase string `json:"passphrase,omitempty"`
	}

	// AdminBackupResult tells what was backed up. Bytes is the size of all
	// files, ReadBytes what of them was read, SentBytes what was stored.
	AdminBackupResult struct {
		ID          string    `json:"id"`
		Created     time.Time `json:"created"`
		Destination string    `json:"destination"`
		Files       int       `json:"files"`
		Bytes       int64     `json:"bytes"`
		ReadBytes   int64     `json:"readBytes"`
		Objects     int       `json:"objects"`
		SentObjects int       `json:"sentObjects"`
		SentBytes   int64     `json:"sentBytes"`
		TookMillis  int64     `json:"tookMillis"`
	}
)

// backupRoutes are those about backups.
func (a *Admin) backupRoutes() []Route {
	if a.Backups == nil {
		return nil
	}
	return []Route{{Method: "POST", Path: AdminBackupsPath, Access: auth.ForAnyone, Handler: operatorOnly(a.serveBackup)}}
}

// serveBackup answers with a line of JSON for each report of progress, and one
// for how it ended.
func (a *Admin) serveBackup(w http.ResponseWriter, r *http.Request) error {
	backups := a.Backups()
	if backups == nil {
		return errStillOpening
	}
	var ask AdminBackup
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody)).Decode(&ask); err != nil || ask.Destination == "" {
		return &Error{Status: http.StatusBadRequest, Message: `expected {"destination": "…"}`, Cause: err}
	}
	lines := newAdminLines(w)
	shown := time.Time{}
	res, err := backups.Backup(r.Context(), ask, func(p backup.Progress) {
		if now := time.Now(); p.DoneBytes == p.TotalBytes || now.Sub(shown) >= backupReportEvery {
			shown = now
			_ = lines.send(AdminLine{Progress: &AdminProgress{Phase: p.Phase, Done: int(p.DoneBytes), Total: int(p.TotalBytes)}})
		}
	})
	return lines.finish(&AdminResult{Backup: newAdminBackupResult(ask.Destination, res)}, err)
}

// backupReportEvery is the time between two reports about a backup.
const backupReportEvery = 100 * time.Millisecond

func newAdminBackupResult(destination string, r backup.Result) *AdminBackupResult {
	return &AdminBackupResult{
		ID: r.Backup, Created: r.Created, Destination: redact.URL(destination), Files: r.Files, Bytes: r.Bytes, ReadBytes: r.ReadBytes,
		Objects: r.Objects, SentObjects: r.SentObjects, SentBytes: r.SentBytes, TookMillis: r.Took.Milliseconds(),
	}
}
