package bench_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// TestRunHistory compares trawl itself with git log on a toy.
func TestRunHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("builds trawl")
	}
	repo := filepath.Join(t.TempDir(), "repo")
	var b strings.Builder
	for i := 1; i <= 40; i++ {
		message := fmt.Sprintf("change %d kiln", i%7)
		text := fmt.Sprintf("glaze %d\nslip %d\n", i%5, i)
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter C <c@example.org> %d +0000\ndata %d\n%s\nM 100644 inline f\ndata %d\n%s\n",
			1_600_000_000+i, len(message), message, len(text), text)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "fast-import", "--quiet"}} {
		cmd := exec.Command("git", args...)
		cmd.Stdin = strings.NewReader(b.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	binary := builtTrawl(t)
	r, err := bench.RunHistory(t.Context(), bench.HistoryConfig{
		Trawl: binary, Repo: repo, Work: t.TempDir(), Words: []string{"kiln", "glaze", "nothere"}, Runs: 2, GitRuns: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range r.Queries {
		found += f.Commits
		if !f.OK() || !f.SameOrder {
			t.Errorf("%+v, want the same commits in the same order", f)
		}
	}
	if len(r.Queries) != 6 || found != 80 || !r.OK() || !strings.Contains(out.String(), "same, in order") {
		t.Errorf("%d commits by %d queries, want 80 by 6\n%s", found, len(r.Queries), out.String())
	}
}
