package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
)

// pager shows what is written to it page by page, as git does. What the user has
// not come to yet waits in a temporary file: neither the search nor the data
// directory is held up by a user who reads.
type pager struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	file   *os.File
	copied chan struct{}

	mu    sync.Mutex
	grown *sync.Cond // with mu, when one of these changes
	size  int64
	ended bool
	// gone is the error of a pager that reads no more.
	gone error
}

// paged calls do with where a command writes: to a pager if the user reads it on a
// terminal and wants one. What people should know beside it goes to notes.
func (a *app) paged(wanted bool, do func(out, notes io.Writer) error) error {
	if !wanted || !isTerminal(a.stdout) {
		return do(a.stdout, a.stderr)
	}
	p, err := startPager(a.stdout, a.stderr)
	if err != nil {
		return err
	}
	if p == nil {
		return do(a.stdout, a.stderr)
	}
	if err = do(p, p); err != nil && p.left() {
		err = nil // the user has seen enough
	}
	return errors.Join(err, p.Close())
}

// pagerCommand returns the command line of the user's pager, "" for none.
func pagerCommand() string {
	line, ok := os.LookupEnv("TRAWL_PAGER")
	if !ok {
		line = cmp.Or(os.Getenv("PAGER"), "less")
	}
	line = strings.TrimSpace(line)
	if line == "cat" || os.Getenv("TERM") == "dumb" {
		return ""
	}
	return line
}

// startPager starts the user's pager on the terminal of a command. It returns nil
// if there is none, which is no error.
func startPager(stdout, stderr io.Writer) (*pager, error) {
	line := pagerCommand()
	name, _, _ := strings.Cut(line, " ")
	if name == "" {
		return nil, nil
	}
	if _, err := exec.LookPath(name); err != nil && line == name {
		return nil, nil
	}
	file, err := os.CreateTemp("", "trawl-pager-")
	if err != nil {
		return nil, fmt.Errorf("keep what the pager has not read: %w", err)
	}
	_ = os.Remove(file.Name()) // where the system allows that, the file ends with this process
	p := &pager{cmd: exec.Command("sh", "-c", line), file: file, copied: make(chan struct{})}
	p.grown = sync.NewCond(&p.mu)
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	p.cmd.Env = os.Environ()
	if _, ok := os.LookupEnv("LESS"); !ok {
		// Leave what fits one screen, show colours, and do not clear the screen.
		p.cmd.Env = append(p.cmd.Env, "LESS=FRX")
	}
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the pager %q: %w", line, err), file.Close(), removed(file.Name()))
	}
	// An interrupt is the pager's, which stops with it what it does, and not reading.
	signal.Ignore(os.Interrupt)
	go p.copy()
	return p, nil
}

// removed removes a file that may be gone already.
func removed(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Write implements io.Writer. It fails once the pager has gone.
func (p *pager) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		return 0, p.gone
	}
	n, err := p.file.Write(text)
	p.size += int64(n)
	p.grown.Broadcast()
	return n, err
}

// copy passes on what is in the file until all of it is, or the pager has gone.
func (p *pager) copy() {
	defer close(p.copied)
	buf := make([]byte, 64<<10)
	for at := int64(0); ; {
		size, ended := p.await(at)
		if at == size && ended {
			_ = p.in.Close() // all was written
			return
		}
		n, err := p.file.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if n > 0 {
			_, err = p.in.Write(buf[:n])
		}
		if err != nil {
			p.mu.Lock()
			p.gone = err
			p.mu.Unlock()
			_ = p.in.Close() // a pager that reads no more is no error
			return
		}
		at += int64(n)
	}
}

// await waits until there is more than at bytes, or no more will come.
func (p *pager) await(at int64) (size int64, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.size == at && !p.ended {
		p.grown.Wait()
	}
	return p.size, p.ended
}

// Close waits until the user has left the pager.
func (p *pager) Close() error {
	p.mu.Lock()
	p.ended = true
	p.grown.Broadcast()
	p.mu.Unlock()
	<-p.copied
	_ = p.cmd.Wait() // how a pager ends says nothing about a search
	signal.Reset(os.Interrupt)
	return errors.Join(p.file.Close(), removed(p.file.Name()))
}

// left reports whether the user has left the pager before all was shown.
func (p *pager) left() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone != nil
}
