//go:build !unix

package git

import "os/exec"

const withoutWaiting = 0

func ownProcessGroup(*exec.Cmd) {}

func lowerPriority(int) {}

func killProcessGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func ranOutOfStack(error) bool { return false }
