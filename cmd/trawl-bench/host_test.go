package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// A server finds what a code host has within the host's limits, with a clean log, and each
// push that the host tells of.
func TestHost(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	file := filepath.Join(dir, "report.json")
	var out bytes.Buffer
	args := []string{"host", "--trawl", binary, "--work", filepath.Join(dir, "host"), "--repositories", "20", "--pushes", "2", "--every", "50ms", "--json", file}
	if err := run(context.Background(), args, &out, io.Discard); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.CodeHostReport
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Fleet.Repositories != 20 || r.After.Count != 2 || r.Refused > 0 || r.Requests < 1 || r.Log != "" || r.PeakBytes == 0 {
		t.Errorf("%v: got %+v\n%s", args, r, &out)
	}
}
