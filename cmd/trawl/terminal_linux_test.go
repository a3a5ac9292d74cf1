package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/internal/gitrepo"
	"github.com/trawlsearch/trawl/internal/needs"
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

// A search on a terminal goes through the pager, with headings and colours, and
// what strangers wrote does nothing to the terminal.
func TestSearchThroughAPager(t *testing.T) {
	for _, program := range []string{"sh", "sed", "head"} {
		needs.Program(t, program)
	}
	keepMemoryLimit(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	kiln := gitrepo.New(t, filepath.Join(t.TempDir(), "kiln"))
	kiln.Write("a.txt", "glaze\x1b[2J\u009b\n"+strings.Repeat("glaze\n", 200))
	kiln.Commit("made")
	data := filepath.Join(t.TempDir(), "data")
	if err := run(t.Context(), []string{"index", "--symbols=false", "--data", data, kiln.Dir}, strings.NewReader(""), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pager string
		args        []string
		begins      string
		contains    string
	}{
		{"a pager", "sed -e s/^/P:/", nil, "P:\x1b[35mkiln\x1b[0m\x1b[35m/a.txt\x1b[0m\r\nP:\x1b[32m1\x1b[0m\x1b[36m:\x1b[0m\x1b[1;31mglaze\x1b[0m\\x1b[2J\\x9b\r\n", ""},
		{"one that the user leaves", "head -n 1", []string{"--color", "never"}, "kiln/a.txt\r\n", ""},
		{"none", "", []string{"--color", "never", "-l"}, "kiln/a.txt\r\n", ""},
		{"one that is not there", "no-such-pager", []string{"--color", "never", "-c"}, "kiln/a.txt:201\r\n", ""},
		{"none for programs", "sed -e s/^/P:/", []string{"--json"}, `{"type":"content"`, `glaze\u001b[2J\u009b\n`},
		{"notes", "sed -e s/^/P:/", []string{"--color", "never", "--count", "1"}, "P:kiln/a.txt\r\n", "\r\nP:trawl: result limit hit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TRAWL_PAGER", c.pager)
			screen, written := terminal(t, 80, 24)
			err := run(t.Context(), slices.Concat([]string{"search", "--data", data}, c.args, []string{"glaze"}), strings.NewReader(""), screen, io.Discard)
			if got := written(); err != nil || !strings.HasPrefix(got, c.begins) || !strings.Contains(got, c.contains) {
				t.Errorf("%v, and the terminal shows %.500q; want it to begin with %q and contain %q", err, got, c.begins, c.contains)
			}
		})
	}
	t.Setenv("TRAWL_PAGER", "sed -e s/^/P:/")
	screen, written := terminal(t, 80, 24)
	err := run(t.Context(), []string{"api", "--data", data, "{ repositories(first: 1) { nodes { name } } }"}, strings.NewReader(""), screen, io.Discard)
	if got, want := written(), "P:{\r\nP:  \x1b[35m\"data\"\x1b[0m: {\r\n"; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("trawl api: %v, and the terminal shows %.500q, want %q", err, got, want)
	}
}
