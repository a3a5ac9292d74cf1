//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/httpapi/admin"
)

// A unit of systemd hears when the server is ready, what it does, and that it
// stops, in this order.
func TestServeNotifies(t *testing.T) {
	keepMemoryLimit(t)
	dir := t.TempDir()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "notify"))
	t.Setenv("WATCHDOG_USEC", "60000000")
	t.Setenv("TRAWL_DATA", filepath.Join(dir, "data"))
	kiln := repository(t, "kiln")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", kiln}, strings.NewReader(""), io.Discard, &log)
	}()
	heard := map[string]bool{}
	hear := func(wants ...string) {
		t.Helper()
		for !slices.ContainsFunc(wants, func(w string) bool { return heard[w] }) {
			message := make([]byte, 4096)
			n, err := socket.Read(message)
			if err != nil {
				t.Fatal(err)
			}
			word, _, _ := strings.Cut(string(message[:n]), "=")
			heard[word] = true
		}
	}
	hear("READY")
	hear("STATUS")
	hear("WATCHDOG")
	awaitReady(t, os.Getenv("TRAWL_DATA"))
	if heard["STOPPING"] {
		t.Error("STOPPING was told before the server had to stop")
	}
	cancel()
	hear("STOPPING")
	if err := <-ended; err != nil || log.Len() > 0 {
		t.Errorf("serve: got %v, want a good end; it logged:\n%s", err, &log)
	}
}

// What is counted is written in words that fit the number.
func TestCountedThings(t *testing.T) {
	for _, tt := range []struct {
		repositories, searches int
		want                   string
	}{
		{0, 0, "serving 0 repositories, 0 searches at work"},
		{1, 1, "serving 1 repository, 1 search at work"},
		{1200, 2, "serving 1,200 repositories, 2 searches at work"},
	} {
		var s admin.Status
		s.Repositories.Indexed, s.Searches.AtWork = tt.repositories, tt.searches
		if got := atWork(s); got != tt.want {
			t.Errorf("%d repositories and %d searches: got %q, want %q", tt.repositories, tt.searches, got, tt.want)
		}
	}
	var s admin.Status
	s.Index.Unreadable = []string{"record 7"}
	if got, want := complaints(s), "1 record is damaged, see trawl check: record 7"; len(got) != 1 || got[0] != want {
		t.Errorf("complaints: got %q, want %q", got, want)
	}
}
