package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// server is a running trawl serve. Whoever started it must call stop.
type server struct {
	*asker
	cmd    *exec.Cmd
	stderr *tail
	// exited is closed after err was set.
	exited chan struct{}
	err    error
	// ready is how long the server took from its start to the first 200.
	ready time.Duration
}

// readyWithin bounds the wait for a server that neither gets ready nor ends.
const readyWithin = 2 * time.Minute

// serve starts trawl serve on a free port and waits until it is ready.
func (t *trawl) serve(ctx context.Context) (*server, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--data", t.data, "--listen", addr}, t.serveArgs...)
	s := &server{
		asker:  newAsker("http://"+addr, t.token),
		cmd:    exec.Command(t.binary, args...),
		stderr: &tail{},
		exited: make(chan struct{}),
	}
	s.cmd.Env, s.cmd.Stderr = t.env(), s.stderr
	start := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("trawl serve: %w", err)
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.exited)
	}()
	if err := s.awaitReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("trawl serve: %w", err), s.stop())
	}
	s.ready = time.Since(start)
	return s, nil
}

// freeAddress returns a loopback address that nothing listened on a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (s *server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errors.New("not ready in time"))
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for {
		if s.answersReady(ctx) {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("ended before it was ready: %w: %s", exitReason(s.err), s.stderr)
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), s.stderr)
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

func (s *server) answersReady(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// stopWithin is how long a server may take to end by itself.
const stopWithin = 20 * time.Second

// stop ends the server and reports one that would not end or ended badly.
func (s *server) stop() error {
	s.close()
	// An error here means that it has ended already, which exited tells.
	_ = s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.exited:
	case <-time.After(stopWithin):
		_ = s.cmd.Process.Kill()
		<-s.exited
		return fmt.Errorf("trawl serve did not end within %s of an interrupt: %s", stopWithin, s.stderr)
	}
	if s.err != nil {
		return fmt.Errorf("trawl serve: %w: %s", s.err, s.stderr)
	}
	return nil
}

// memory returns the server's sizes until now.
func (s *server) memory() treePeaks { return sampleTree(s.cmd.Process.Pid) }

// repositories returns the names of what is indexed.
func (s *server) repositories(ctx context.Context) ([]string, error) {
	f := newFound()
	if _, err := s.search(ctx, "count:all repo:.", "keyword", f.add); err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	return sortedKeys(f.repositories), nil
}
