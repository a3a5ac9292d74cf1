package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// TestSoak runs one round of everything. CI runs ten minutes of it beside the
// tests, "make soak SOAK=8h" a night.
func TestSoak(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	var out bytes.Buffer
	args := []string{"soak", "--trawl", binary, "--data", filepath.Join(dir, "soak"), "--rounds", "1", "--seed", "3", "--json"}
	if err := run(context.Background(), args, &out, io.Discard); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	var r bench.SoakReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Rounds != 1 || len(r.Samples) != 1 || len(r.Wrong) > 0 || r.Done["searches"] != 40 || r.Samples[0].Goroutines < 5 || r.Samples[0].DiskBytes < 1000 {
		t.Errorf("%v: got %+v", args, r)
	}
}

func TestSoakFlags(t *testing.T) {
	for _, share := range []string{"0", "1.5", "-1"} {
		err := run(context.Background(), []string{"soak", "--share", share}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "at most 1") {
			t.Errorf("soak --share %s: error = %v, want one that says at most 1", share, err)
		}
	}
}
