package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trawlsearch/trawl/bench"
)

// mineToy is a repository whose commits are given as a subject and the files that
// it writes.
func mineToy(t *testing.T, commits ...[]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "toy")
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@localhost", "-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	for i, c := range commits {
		for _, name := range c[1:] {
			text := fmt.Sprintf("// kiln %s\n// %d\nfire glaze\n", name, i)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add", ".")
		git("commit", "-q", "-m", c[0])
	}
	return dir
}

func TestMine(t *testing.T) {
	repository := mineToy(t,
		[]string{"begin", "a.go", "b.go", "c.go", "d.go", "notes.md"},
		[]string{"a: keep the kiln from fire (#12)", "a.go", "notes.md"},
		[]string{"Nothing that is there", "b.go"},
		[]string{"glaze kiln and fire", "b.go", "c.go"},
		[]string{"fire kiln in too many", "a.go", "b.go", "c.go"},
		[]string{"fire kiln in a new one", "e.go"},
		[]string{"fire kiln in what was not there before", "e.go"},
		[]string{"fire kiln in text", "notes.md"},
	)
	out := t.TempDir()
	c := bench.MineConfig{Repositories: []string{repository}, Out: out, Snapshots: 1, Commits: 10}
	if err := bench.Mine(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "toy-0.txt"))
	if err != nil {
		t.Fatal(err)
	}
	queries, err := bench.ParseJudged(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range queries {
		if q.Kind != "tune" && q.Kind != "report" {
			t.Errorf("%s is of kind %q", q.Name, q.Kind)
		}
		got = append(got, fmt.Sprint(q.Why, ": ", strings.Join(q.Want, " ")))
		if words := strings.Fields(q.Text); len(words) < 2 || len(words) > 4 || strings.Contains(q.Text, " and ") {
			t.Errorf("query %q of %q, want two to four words", q.Text, q.Why)
		}
	}
	if got, want := strings.Join(got, "; "), "a: keep the kiln from fire (#12): a.go; glaze kiln and fire: b.go c.go"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	files, err := exec.Command("git", "-C", filepath.Join(out, "toy-0.git"), "ls-tree", "-r", "--name-only", "main").Output()
	if err != nil || string(files) != "a.go\nb.go\nc.go\nd.go\nnotes.md\n" {
		t.Errorf("the snapshot has %q, %v", files, err)
	}
}
