//go:build unix

package ctags

import (
	"os/exec"
	"strconv"
	"syscall"
)

// shell is in the same place on every unix, whatever PATH says.
const shell = "/bin/sh"

// bounded returns a command that may map so much memory. The shell sets the
// limit and becomes the program, in a process group of its own, which the
// terminal does not interrupt.
func bounded(path string, args []string, memoryBytes int64) *exec.Cmd {
	cmd := exec.Command(path, args...)
	if memoryBytes > 0 {
		script := "ulimit -v " + strconv.FormatInt(memoryBytes>>10, 10) + ` && exec "$0" "$@"`
		cmd = exec.Command(shell, append([]string{"-c", script, path}, args...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// niceness leaves the processors to searches.
const niceness = 10

// yieldToOthers lowers the priority of the process; where that is not possible
// nothing is lost but time.
func yieldToOthers(cmd *exec.Cmd) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, niceness)
}
