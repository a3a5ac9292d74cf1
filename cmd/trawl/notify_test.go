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
