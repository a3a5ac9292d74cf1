package ctags

import (
	"bufio"
	"fmt"
)

// arguments ask for tags as JSON, with only the fields that are used. Names
// that ctags makes up for anonymous definitions are left out: no search asks
// for them.
func (p *Program) arguments() []string {
	mode := "default"
	if p.sandbox {
		mode = "sandbox"
	}
	return []string{
		"--options=NONE", "--quiet=yes", "--_interactive=" + mode, "--output-format=json", "--fields=NnKspl", "--extras=-{anonymous}",
	}
}

// start starts the process and reads who it is.
func (p *Parser) start() error {
	cmd := bounded(p.program.path, p.program.arguments(), p.opts.MemoryBytes)
	cmd.Env, cmd.Dir = environment, "/"
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start ctags: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start ctags: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start ctags: %w", err)
	}
	yieldToOthers(cmd)
	p.cmd, p.in, p.out = cmd, in, bufio.NewReaderSize(out, maxLineBytes)
	hello, err := p.answer()
	if err == nil && hello.Type != "program" {
		err = fmt.Errorf("it begins with %q", hello.Type)
	}
	if err != nil {
		_ = p.Close() // err says what is wrong
		return fmt.Errorf("start ctags: %w", err)
	}
	return nil
}
