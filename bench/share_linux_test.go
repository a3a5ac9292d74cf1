package bench_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/cgroups/v3/cgroup1"

	"github.com/trawlsearch/trawl/bench"
	"github.com/trawlsearch/trawl/internal/needs"
)

// A process that would take a processor has a small part of it. Who may not make control
// groups is told so.
func TestHoldToShare(t *testing.T) {
	cmd := exec.Command(needs.Program(t, "sh"), "-c", "read go; while :; do :; done")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	remove, err := bench.HoldToShare(fmt.Sprintf("trawl-bench-test-%d", cmd.Process.Pid), cmd.Process.Pid, 0.05)
	start := time.Now()
	if err == nil {
		if _, err := io.WriteString(stdin, "go\n"); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
	}
	held := time.Since(start)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if err != nil {
		if !errors.Is(err, cgroup1.ErrMountPointNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.EBUSY) {
			t.Errorf("a process was not held: %v", err)
		}
		t.Logf("only the refusal is tested: %v", err)
		return
	}
	if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); took > held/3 {
		t.Errorf("it took %v of the processor in %v", took, held)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
}
