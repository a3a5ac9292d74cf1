package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// process is a running server, ours or a peer's. Its starter must call stop.
type process struct {
	// name is the command as users know it, for messages.
	name   string
	cmd    *exec.Cmd
	stderr fmt.Stringer
	// exited is closed after err was set.
	exited chan struct{}
	err    error
	// ready is how long the server took from its start until it could answer.
	ready time.Duration
}

// readyWithin bounds the wait for a server that neither gets ready nor ends.
const readyWithin = 2 * time.Minute

// startProcess starts cmd and waits until ready says so. What the command writes
// to standard error also goes where cmd.Stderr says, if it says so.
func startProcess(ctx context.Context, name string, cmd *exec.Cmd, ready func(context.Context) bool) (*process, error) {
	p := &process{name: name, cmd: cmd, exited: make(chan struct{})}
	if cmd.Stderr == nil {
		end, err := newFileTail()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		cmd.Stderr, p.stderr = end.File, end
	} else {
		end := &tail{}
		cmd.Stderr, p.stderr = io.MultiWriter(end, cmd.Stderr), end
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if err := p.awaitReady(ctx, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), p.stop())
	}
	p.ready = time.Since(start)
	return p, nil
}

func (p *process) awaitReady(ctx context.Context, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errors.New("not ready in time"))
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		if ready(ctx) {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("ended before it was ready: %w: %s", exitReason(p.err), p.stderr)
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), p.stderr)
		case <-poll.C:
		}
	}
}

// exitReason names the error of a process that ended without one.
func exitReason(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// stopWithin is how long a server may take to end by itself: trawl serve gives requests
// and work 25 seconds.
const stopWithin = time.Minute

// stop ends the server and reports one that would not end or ended badly.
func (p *process) stop() error {
	// An error here means that it has ended already, which exited reports.
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.exited:
	case <-time.After(stopWithin):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("%s did not end within %s of an interrupt: %s", p.name, stopWithin, p.stderr)
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w: %s", p.name, p.err, p.stderr)
	}
	return nil
}

// memory returns the server's sizes until now.
func (p *process) memory() treePeaks { return sampleTree(p.cmd.Process.Pid) }
