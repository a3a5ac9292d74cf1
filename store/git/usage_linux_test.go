package git_test

import (
	"os/exec"
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
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		alone, all = git.MemoryOf(cmd.Process.Pid)
		if n := git.Descendants(cmd.Process.Pid); n == 2 && alone >= size {
			break // the forked shell, and cat
		}
		if time.Now().After(deadline) {
			t.Fatalf("the shell has %d MiB", alone>>20)
		}
	}
	if all > alone+size/2 {
		t.Errorf("a shell of %d MiB that was forked counts %d MiB", alone>>20, all>>20)
	}
}
