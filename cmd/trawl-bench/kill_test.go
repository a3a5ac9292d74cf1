package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestKill: some servers are killed at work, and nothing acknowledged is lost.
// Many more are with trawl-bench kill --cycles 1000.
func TestKill(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	var out bytes.Buffer
	args := []string{"kill", "--trawl", binary, "--data", filepath.Join(dir, "kill"), "--cycles", "6", "--ready-within", "1m"}
	if err := run(context.Background(), args, &out, io.Discard); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &out)
	}
	if !strings.Contains(out.String(), "nothing acknowledged was lost") {
		t.Errorf("%v prints\n%swant that nothing was lost", args, &out)
	}
	t.Log(out.String())
}

func TestKillFlags(t *testing.T) {
	err := run(context.Background(), []string{"kill", "--cycles", "0"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "at least one") {
		t.Errorf("kill --cycles 0: error = %v, want one that says at least one", err)
	}
}
