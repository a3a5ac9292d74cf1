//go:build linux

package systemd_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/cmd/trawl/systemd"
)

// manager is a service manager that remembers what it is told.
func manager(t *testing.T) func() string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return func() string {
		t.Helper()
		message := make([]byte, 4096)
		n, err := conn.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
}

func TestNotify(t *testing.T) {
	heard := manager(t)
	n := &systemd.Notifier{Failed: func(err error) { t.Error(err) }}
	for _, c := range []struct {
		tell func()
		want string
	}{
		{n.Ready, "READY=1"},
		{n.Stopping, "STOPPING=1"},
		{func() { n.Status("syncing lab/kiln") }, "STATUS=syncing lab/kiln"},
		// the name of a repository must not become a message
		{func() { n.Status("syncing a\nMAINPID=1") }, "STATUS=syncing a MAINPID=1"},
	} {
		c.tell()
		if got := heard(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestWatch(t *testing.T) {
	heard := manager(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	alive := make(chan error, 1)
	var failed []error
	n := &systemd.Notifier{Failed: func(err error) { failed = append(failed, err) }}
	ended := make(chan struct{})
	alive <- nil
	go func() {
		defer close(ended)
		n.Watch(ctx, func() string { return "serving" }, func(context.Context) error { return <-alive })
	}()
	for _, want := range []string{"STATUS=serving", "WATCHDOG=1", "STATUS=serving"} {
		if got := heard(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	// A server that does not live any more does not feed the watchdog.
	alive <- errors.New("no answer")
	if got := heard(); got != "STATUS=serving" {
		t.Errorf("after a failure: got %q, want STATUS=serving", got)
	}
	cancel()
	alive <- nil
	<-ended
	if len(failed) != 1 || failed[0].Error() != "no answer" {
		t.Errorf("failures: got %v, want one", failed)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	n := &systemd.Notifier{Failed: func(err error) { t.Error(err) }}
	n.Ready()
	n.Watch(t.Context(), nil, nil) // returns at once
	if systemd.Listened() {
		t.Error("Listened: got true without NOTIFY_SOCKET")
	}
}
