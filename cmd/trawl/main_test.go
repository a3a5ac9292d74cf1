package main

import (
	"flag"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
)

var update = flag.Bool("update", false, "rewrite what the scripts, docs/configure.md and testdata/pages expect")

// The table of settings in docs/configure.md is the one the program makes.
func TestSettingsPage(t *testing.T) {
	const path = "../../docs/configure.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := config.Markdown()
	head, _, _ := strings.Cut(table, "\n")
	start := strings.Index(string(text), head)
	if start < 0 {
		t.Fatalf("%s has no table of settings; put this there:\n%s", path, table)
	}
	end := start
	for line := range strings.Lines(string(text[start:])) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		end += len(line)
	}
	got := string(text[start:end])
	if got == table {
		return
	}
	if *update {
		changed := string(text[:start]) + table + string(text[end:])
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s differs from the settings (run with -update)\ngot:\n%s\nwant:\n%s", path, got, table)
}

func TestVersionText(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "5f1c0e7a9b3d4c2288aa61f0d2e4b9c7715e3a60"}, {Key: "vcs.modified", Value: "true"},
	}}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{info, "trawl v1.2.3 (commit 5f1c0e7a9b3d, modified)\nstore format 2\n"},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "trawl (devel)\nstore format 2\n"},
		{nil, "trawl unknown\nstore format 2\n"},
	} {
		if got := versionText(c.info); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want it to begin with %q", got, c.want)
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Hour: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 90 * time.Minute: "1h", 47 * time.Hour: "47h", 72 * time.Hour: "3d",
	} {
		if got := age(now.Add(-ago), now); got != want {
			t.Errorf("%v ago: got %q, want %q", ago, got, want)
		}
	}
	if got := age(time.Time{}, now); got != "never" {
		t.Errorf("no time: got %q, want never", got)
	}
}
