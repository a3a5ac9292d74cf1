//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asPostgres has cmd run as another user for root, since PostgreSQL refuses to serve
// root, and in a group of its own: an interrupt at the terminal is for us.
func asPostgres(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := postgresUser()
	if err == nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return err
}

// ownForPostgres gives a folder to the user of asPostgres.
func ownForPostgres(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := postgresUser()
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

// postgresUser is the user whom PostgreSQL's package makes, or else the one who owns
// nothing.
func postgresUser() (uid, gid uint64, err error) {
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("postgres does not serve root: %w", err)
	}
	if uid, err = strconv.ParseUint(found.Uid, 10, 32); err == nil {
		gid, err = strconv.ParseUint(found.Gid, 10, 32)
	}
	return uid, gid, err
}

// freeze stops a process until thaw.
func (p *process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

func (p *process) thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
