//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
	"github.com/trawlsearch/trawl/internal/needs"
)

// runCluster runs trawl-bench cluster at its smallest and returns the report and what
// is printed.
func runCluster(t *testing.T, args ...string) (bench.ClusterReport, string) {
	t.Helper()
	needs.Program(t, "postgres")
	needs.Program(t, "initdb")
	needs.Program(t, "psql")
	binary, dir := builtTrawl(t), t.TempDir()
	t.Parallel()
	file := filepath.Join(dir, "report.json")
	var out bytes.Buffer
	args = append([]string{"cluster", "--trawl", binary, "--work", filepath.Join(dir, "cluster"), "--nodes", "2", "--repositories", "5",
		"--changes", "4", "--commits", "2", "--tokens", "2", "--queries", "16", "--away", "1s", "--json", file}, args...)
	if err := run(context.Background(), args, &out, io.Discard); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.ClusterReport
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	return r, out.String()
}

// TestCluster: two nodes are timed, faults are drawn and happen, nothing acknowledged is
// lost or out of order, and no token is taken behind its end. The faults that are staged
// one after the other wait for leases of nodes that died; they, and more, by hand:
//
//	trawl-bench cluster
//	trawl-bench cluster --faults 200 --seed 1
func TestCluster(t *testing.T) {
	const faults = 3
	r, out := runCluster(t, "--faults", fmt.Sprint(faults))
	if len(r.Faults) != faults || len(r.Problems) > 0 || r.Acknowledged == 0 || r.Queries != 16 {
		t.Errorf("got %+v\n%s", r, out)
	}
}

func TestClusterFlags(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--nodes 1", "two or more"},
		{"--tokens 0", "at least one"},
		{"--faults -1", "less than none"},
		{"--away 0s", "at least one"},
		{"--trawl x --kinds none", "no fault"},
		{"extra", `unexpected "extra"`},
	} {
		err := run(context.Background(), append([]string{"cluster"}, strings.Fields(tt.args)...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("cluster %s: error = %v, want one with %q", tt.args, err, tt.want)
		}
	}
}
