package remote

import (
	"context"
	"io"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi"
)

// Backup makes a backup of the server's data directory. It calls report from
// the caller's goroutine.
func (c *Client) Backup(ctx context.Context, ask httpapi.AdminBackup, report func(httpapi.AdminProgress)) (httpapi.AdminBackupResult, error) {
	var out httpapi.AdminResult
	err := c.send(ctx, http.MethodPost, httpapi.AdminBackupsPath, nil, ask, func(r io.Reader) (err error) {
		out, err = readLines(r, func(l httpapi.AdminLine) error {
			if l.Progress != nil {
				report(*l.Progress)
			}
			return nil
		})
		return err
	})
	if err != nil || out.Backup == nil {
		return httpapi.AdminBackupResult{}, err
	}
	return *out.Backup, nil
}
