//go:build unix

package browse_test

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/needs"
)

// What a page is made of ends when its client leaves: git too.
func TestPageEndsWithItsClient(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large pages for slow clients")
	}
	for path, command := range map[string]string{
		"/lab/kiln/-/commits": "rev-list", "/lab/kiln/-/commit/main": "diff-tree", "/lab/kiln/-/branches": "for-each-ref", "/lab/kiln/-/blob/main.go": "cat-file",
	} {
		t.Run(command, func(t *testing.T) {
			w := newWorld(t)
			hanging := needs.HangingGit(t, command)
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "GET", w.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			asked := make(chan error, 1)
			go func() {
				resp, err := w.Client.Do(req)
				if err == nil {
					resp.Body.Close()
				}
				asked <- err
			}()
			pid := await(t, path+": git "+command, hanging)
			left := time.Now()
			cancel()
			await(t, path+": the end of git", func() (int, bool) { return 0, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
			if took := time.Since(left); took > 30*time.Second { // git itself would hang for ten minutes
				t.Errorf("%s: git %s ran for %v when its client had left", path, command, took)
			}
			if err := <-asked; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v, want canceled", path, err)
			}
		})
	}
}
