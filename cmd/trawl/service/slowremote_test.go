package service_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/httpapi/admin"
	"github.com/trawlsearch/trawl/store/backup"
	"github.com/trawlsearch/trawl/store/ingest"
)

// declare makes a repository with one file below root, and declares it as one of
// a host.
func declare(t *testing.T, s *service.Service, host, root, name string) {
	t.Helper()
	commit(t, filepath.Join(root, name), "a.txt", "glaze of "+name)
	serveable(t, filepath.Join(root, name))
	if _, err := s.Repositories().Declare(t.Context(), ingest.Source{Name: name, Location: host + "/" + name + "/.git", Remote: true}); err != nil {
		t.Fatal(err)
	}
}

// TestSlowRemoteKeepsNobodyWaiting: while a remote sends next to nothing, the
// first round goes on with all others, what is asked for is synced, a backup with
// mirrors is made, and the server can stop.
func TestSlowRemoteKeepsNobodyWaiting(t *testing.T) {
	s := open(t)
	root := t.TempDir()
	files, release := http.FileServer(http.Dir(root)), make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/a-slow/") && strings.Contains(r.URL.Path, "/objects/") {
			select {
			case <-release:
			case <-r.Context().Done():
				return
			}
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(host.Close)
	for _, name := range []string{"a-slow", "b", "c", "d", "e", "f"} {
		declare(t, s, host.URL, root, name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		working.Wait()
	})
	working.Go(func() {
		y := &service.Syncer{Service: s, Stay: true, Log: zerolog.Nop(), Display: progress.Lines(io.Discard, time.Now)}
		y.Run(ctx, []string{"a-slow", "b"}, func() {})
	})
	eventually(t, "sync of all but the slow one", func() bool { return names(t, s) == "b c d e f" })

	commit(t, filepath.Join(root, "c"), "b.txt", "more glaze of c")
	serveable(t, filepath.Join(root, "c"))
	s.Repositories().Refresh("c")
	eventually(t, "sync of what was asked for", func() bool { return found(t, s, "glaze") == 6 })

	eventually(t, "an end of all but one", func() bool {
		status, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q := status.Queue
		return q.Running == "a-slow" && q.Fetching == 1 && q.Waiting == 0
	})
	to := filepath.Join(t.TempDir(), "backups")
	if _, err := s.Backups().Backup(t.Context(), admin.Backup{Destination: to, Mirrors: true}, func(backup.Progress) {}); err != nil {
		t.Errorf("backup: %v", err)
	}

	s.Stop()
	eventually(t, "an end of the slow one", func() bool {
		status, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return status.Queue.Running == ""
	})
	if r := find(t, s, "a-slow"); r.LastError != "" || r.Indexed() {
		t.Errorf("the slow one: %+v; want it as before, that the server stopped is no fault of it", r)
	}
	close(release)
}
