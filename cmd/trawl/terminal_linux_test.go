package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

// terminal opens a terminal of so many columns and rows. All that is written to
// it can be read once it is closed.
func terminal(t *testing.T, columns, rows uint16) (screen *os.File, written func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
	if screen, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&text, master) // ends with an error when the terminal is closed
	}()
	return screen, func() string {
		_ = screen.Close()
		<-read
		_ = master.Close()
		return text.String()
	}
}

// A terminal without a size gets the progress as lines, as a file would; one
// with a size gets bars.
func TestProgressWithoutTerminalSize(t *testing.T) {
	keepMemoryLimit(t)
	for _, c := range []struct {
		columns, rows uint16
		lines         bool
	}{{0, 0, true}, {80, 0, true}, {80, 24, false}} {
		kiln := repository(t, "kiln")
		screen, written := terminal(t, c.columns, c.rows)
		args := []string{"index", "--symbols=false", "--data", filepath.Join(t.TempDir(), "data"), kiln}
		err := run(t.Context(), args, strings.NewReader(""), io.Discard, screen)
		got := written()
		if err != nil || !strings.Contains(got, "kiln: 1 document") {
			t.Fatalf("%d columns, %d rows: %v, and the terminal shows %q", c.columns, c.rows, err, got)
		}
		if lines := strings.Contains(got, "kiln: indexing 1 of 1 documents"); lines != c.lines {
			t.Errorf("%d columns, %d rows: the terminal shows %q; progress as lines: want %t", c.columns, c.rows, got, c.lines)
		}
	}
}

// Requests are not logged at info to a terminal, and are to a file.
func TestServiceOutputIsWatchedOnATerminal(t *testing.T) {
	screen, written := terminal(t, 80, 24)
	defer written()
	a := &app{stderr: screen}
	set := config.Settings{}
	set.LogFormat, set.LogLevel = "auto", "info"
	if !a.serviceOutput(set).watched {
		t.Error("a log on a terminal: not watched")
	}
	set.LogFormat = "json"
	if a.serviceOutput(set).watched {
		t.Error("JSON on a terminal: watched")
	}
	a.stderr, set.LogFormat = io.Discard, "console"
	if a.serviceOutput(set).watched {
		t.Error("a log in a file: watched")
	}
}
