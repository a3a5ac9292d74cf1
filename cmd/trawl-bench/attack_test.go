package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// TestAttack: the attacks work on a toy corpus: their requests are refused as
// they should be, and another client is served.
func TestAttack(t *testing.T) {
	binary, dir := builtTrawl(t), t.TempDir()
	corpus, data := filepath.Join(dir, "toy"), filepath.Join(dir, "data")
	if err := run(t.Context(), []string{"corpus", "--files", "60", "--out", corpus}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"init -q", "add -A", "-c user.name=kiln -c user.email=kiln@example.org commit -q -m toy"} {
		if out, err := exec.Command("git", append([]string{"-C", corpus}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
	if out, err := exec.Command(binary, "index", "--data", data, "toy="+corpus).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var out, notes bytes.Buffer
	args := []string{"attack", "--trawl", binary, "--data", data, "--for", "150ms", "--connections", "50", "--scale", "0.01", "--json"}
	_ = run(t.Context(), args, &out, &notes) // a busy machine may be slower than the limits
	var r bench.AttackReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", args, err, &out, &notes)
	}
	// The other client begins two queries beside each attack, or none on a busy machine.
	others := r.Alone.Count
	for _, at := range r.Attacks {
		others += at.Others.Count
	}
	if len(r.Attacks) < 55 || others == 0 {
		t.Errorf("got %d attacks, and %d answers beside them and before", len(r.Attacks), others)
	}
	refusals := 0
	for _, at := range r.Attacks {
		refusals += at.Refused.Count
		if at.GrowthBytes > 256<<20 || at.Failed > 0 {
			t.Errorf("%+v", at)
		}
		for answer := range at.Answers {
			if at.Wants == "refused" && (strings.HasPrefix(answer, "answered") || strings.HasPrefix(answer, "partial")) {
				t.Errorf("%s: %s", at.Name, answer)
			}
		}
	}
	if refusals == 0 {
		t.Error("nothing was refused in time")
	}
}

func TestAttackFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"attack"}, "--data is missing"},
		{[]string{"attack", "--data", "x", "--for", "0s"}, "above zero"},
	} {
		if err := run(t.Context(), c.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q in it", c.args, err, c.want)
		}
	}
}
