//go:build !unix

package bench

import (
	"errors"
	"os/exec"
)

func asPostgres(*exec.Cmd) error { return nil }

func ownForPostgres(string) error { return nil }

func (p *process) freeze() error { return errors.ErrUnsupported }

func (p *process) thaw() error { return errors.ErrUnsupported }
