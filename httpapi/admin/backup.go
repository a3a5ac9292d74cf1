package admin

import (
	"context"
	"time"

	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/redact"
)

// Backups is what that route acts on.
type Backups interface {
	// Backup makes a backup. It calls report, which is not nil, from one
	// goroutine at a time.
	Backup(ctx context.Context, ask Backup, report func(backup.Progress)) (backup.Result, error)
}

// What the admin route about backups reads and writes.
type (
	// Backup asks for a backup.
	Backup struct {
		// Destination is an absolute path or the address of a bucket.
		Destination string `json:"destination"`
		Mirrors     bool   `json:"mirrors,omitempty"`
		ReadAll     bool   `json:"readAll,omitempty"`
		// Recipients are public keys, one a line; Passphrase is another way to
		// encrypt.
		Recipients string `json:"recipients,omitempty"`
		Passphrase string `json:"passphrase,omitempty"`
	}

	// BackupResult tells what was backed up. Bytes is the size of all
	// files, ReadBytes what of them was read, SentBytes what was stored.
	BackupResult struct {
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

func (Backup) example() string { return `{"destination": "…"}` }

func (h *Handlers) backup(c *call, in Backup, send func(Line) error) (Result, error) {
	if in.Destination == "" {
		return Result{}, badBody(in, nil)
	}
	shown := time.Time{}
	res, err := h.Backups().Backup(c.r.Context(), in, func(p backup.Progress) {
		if now := time.Now(); p.DoneBytes == p.TotalBytes || now.Sub(shown) >= backupReportEvery {
			shown = now
			_ = send(Line{Progress: &Progress{Phase: p.Phase, Done: int(p.DoneBytes), Total: int(p.TotalBytes)}})
		}
	})
	return Result{Backup: newBackupResult(in.Destination, res)}, err
}

// backupReportEvery is the time between two reports about a backup.
const backupReportEvery = 100 * time.Millisecond

func newBackupResult(destination string, r backup.Result) *BackupResult {
	return &BackupResult{
		ID: r.Backup, Created: r.Created, Destination: redact.URL(destination), Files: r.Files, Bytes: r.Bytes, ReadBytes: r.ReadBytes,
		Objects: r.Objects, SentObjects: r.SentObjects, SentBytes: r.SentBytes, TookMillis: r.Took.Milliseconds(),
	}
}
