package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

func TestMany(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	file := filepath.Join(dir, "report.json")
	var out bytes.Buffer
	args := []string{"many", "--trawl", binary, "--work", filepath.Join(dir, "many"), "--repositories", "3", "--runs", "1", "--commits", "1", "--json", file}
	if err := run(context.Background(), args, &out, io.Discard); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.ManyReport
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Fleet.Repositories != 3 || len(r.Commits) != 1 || len(r.Checks) == 0 || !strings.Contains(out.String(), "3 of seed 1") {
		t.Errorf("%v: got %+v\n%s", args, r, &out)
	}
}

// TestManyStayWithinMemory: the program itself stays within its setting while it
// indexes many repositories and is asked meanwhile, leaves few shards, and answers
// rightly.
func TestManyStayWithinMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the resident size of a process is read from /proc")
	}
	if testing.Short() {
		t.Skip("it indexes 80 repositories three times")
	}
	binary, dir := builtTrawl(t), t.TempDir()
	file := filepath.Join(dir, "report.json")
	args := []string{"many", "--trawl", binary, "--work", filepath.Join(dir, "many"), "--repositories", "80", "--runs", "1", "--commits", "1",
		"--memory", "512MiB", "--json", file}
	if err := run(context.Background(), args, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.ManyReport
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB resident at most to index, %d to serve; %d and %d shards", r.Text.PeakOwnBytes>>20, r.Bulk.PeakBytes>>20, r.Text.Shards, r.Bulk.Shards)
	if most := max(r.Text.PeakOwnBytes, r.Bulk.PeakBytes); most > r.SettingBytes || most == 0 {
		t.Errorf("the program took %d bytes, its setting is %d", most, r.SettingBytes)
	}
	if most := max(r.Text.Shards, r.Bulk.Shards); most > 18 {
		t.Errorf("%d shards are left", most)
	}
	if len(r.Problems) > 0 {
		t.Errorf("wrong answers: %q", r.Problems)
	}
}

func TestManyFlags(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--repositories 0", "at least one"},
		{"--runs 0", "at least one"},
		{"--commits -1", "at least one"},
		{"extra", `unexpected "extra"`},
	} {
		err := run(context.Background(), append([]string{"many"}, strings.Fields(tt.args)...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("many %s: error = %v, want one with %q", tt.args, err, tt.want)
		}
	}
}
