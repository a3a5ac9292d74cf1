//go:build unix && !linux

package postgrestest

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}

func lockThread() (unlock func()) { return func() {} }
