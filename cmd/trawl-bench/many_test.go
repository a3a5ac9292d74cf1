package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
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
