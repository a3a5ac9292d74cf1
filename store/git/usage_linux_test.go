package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trawlsearch/trawl/internal/needs"
	"github.com/trawlsearch/trawl/store/git"
)

// TestForkedProcessIsNotCounted: what a process shares with the one it was forked
// from is not counted twice. git has 100 MiB for 100,000 refs when it starts the
// next of its programs.
func TestForkedProcessIsNotCounted(t *testing.T) {
	sh := needs.Program(t, "sh")
	for _, program := range []string{"yes", "head", "cat"} {
		needs.Program(t, program)
	}
	const size = 32 << 20
	cmd := exec.Command(sh, "-c", `x=$(yes brick | head -c 33554432); (cat; :); :`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close() // ends cat
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	var alone, all int64
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		alone, all = git.MemoryOf(cmd.Process.Pid)
		if n := git.Descendants(cmd.Process.Pid); n == 2 && alone >= size && all <= alone+size/2 {
			break // the forked shell, and cat, which may count twice while it begins
		}
		if time.Now().After(deadline) {
			t.Fatalf("a shell of %d MiB that was forked counts %d MiB", alone>>20, all>>20)
		}
	}
}

// TestLeaveProcessors: git that works behind others has a lower priority
// than git that does not.
func TestLeaveProcessors(t *testing.T) {
	x := newFixture(t)
	x.write("a.txt", "brick\n")
	commit := x.commit()
	b := git.NewBudget(0)
	own := niceOf("self")
	for name, c := range map[string]struct {
		b    *git.Budget
		nice string
	}{"a search": {b.Behind(), "10"}, "a page": {b, own}, "a sync": {b.ForSyncs(), own}, "a sync beside searches": {b.ForSyncs().Behind(), "10"}} {
		r, err := c.b.Open(t.Context(), x.dir)
		if err != nil {
			t.Fatal(err)
		}
		o := r.Objects()
		if _, err := o.Read(t.Context(), commit, 1<<20); err != nil {
			t.Fatal(err)
		}
		if got := niceOfGit(t); got != c.nice {
			t.Errorf("git for %s has the nice value %s, want %s", name, got, c.nice)
		}
		o.Close()
	}
}

// niceOfGit returns the nice value of the one git that this process runs.
func niceOfGit(t *testing.T) string {
	t.Helper()
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is good
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that has ended
		for _, pid := range strings.Fields(string(text)) {
			if name, _ := os.ReadFile("/proc/" + pid + "/comm"); string(name) == "git\n" {
				return niceOf(pid)
			}
		}
	}
	t.Fatal("no git is at work")
	return ""
}

// niceOf returns the nice value of a process, "" of one that has ended: the 19th
// field of proc_pid_stat(5), the second being a name in parentheses.
func niceOf(pid string) string {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, rest, ok := strings.Cut(string(stat), ") ")
	if !ok {
		return ""
	}
	return strings.Fields(rest)[16]
}
