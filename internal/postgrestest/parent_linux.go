package postgrestest

import (
	"runtime"
	"syscall"
)

// endWithParent has the kernel end a server whose tests were killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }

// lockThread keeps the thread that starts a process until the process has ended.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
