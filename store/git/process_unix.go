//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// withoutWaiting is the flag to open a pipe without its other end.
const withoutWaiting = syscall.O_NONBLOCK

// ownProcessGroup keeps a child and what it starts together, so that all can
// be killed, and away from the terminal's interrupts, which are ours to handle.
func ownProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// lowerPriority has a child leave processors to others. It matters little if it
// cannot.
func lowerPriority(pid int) { _ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, 10) }

// killProcessGroup ends a child and all it started. It leaves alone a child
// that has been reaped, since another process may have its ID by now.
func killProcessGroup(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// ranOutOfStack reports whether a child died as one does whose recursion goes
// too deep.
func ranOutOfStack(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSEGV
}
