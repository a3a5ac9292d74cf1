//go:build unix

package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startTime is how long a server may take to start, after a crash too.
const startTime = 60 * time.Second

// Server is a PostgreSQL server with databases of its own. Its methods are called
// from one goroutine at a time and fail the test if they cannot do their work.
type Server struct {
	t        testing.TB
	postgres string
	dir      string
	settings []string

	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended
	killed bool          // and not started since
}

// Socket returns the path of the socket at which the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Address returns where the server is reached, as the superuser.
func (s *Server) Address() string {
	return "postgres://postgres@/postgres?host=" + url.QueryEscape(s.dir)
}

// Start starts the server after Stop or Kill, and returns once it takes connections.
func (s *Server) Start() {
	s.t.Helper()
	deadline := time.Now().Add(startTime)
	for {
		err := s.start(deadline)
		if err == nil {
			s.killed = false
			return
		}
		// What is left of a killed server takes a moment to go.
		if time.Now().After(deadline) || !s.killed || !errors.Is(err, errExited) {
			s.t.Fatalf("start PostgreSQL: %v\n%s", err, s.log())
		}
	}
}

var errExited = errors.New("the server ended")

func (s *Server) start(deadline time.Time) error {
	a, err := attributes()
	if err != nil {
		return err
	}
	endWithParent(a)
	log, err := os.OpenFile(s.logFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", filepath.Join(s.dir, "data"), "-k", s.dir}
	for _, setting := range append([]string{"listen_addresses=", "fsync=off", "full_page_writes=off", "shared_buffers=16MB",
		"dynamic_shared_memory_type=mmap", "max_connections=60"}, s.settings...) {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(s.postgres, args...)
	cmd.Dir, cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = s.dir, a, log, log
	if err := s.run(cmd); err != nil {
		return err
	}
	return s.awaitReady(deadline)
}

// run starts cmd in a goroutine that waits for it, as what ends with its parent ends
// with the thread that started it.
func (s *Server) run(cmd *exec.Cmd) error {
	started, exited := make(chan error), make(chan struct{})
	go func() {
		unlock := lockThread()
		defer unlock()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(exited)
	}()
	s.cmd, s.exited = cmd, exited
	return <-started
}

// awaitReady waits for the line of the lock file that says so.
func (s *Server) awaitReady(deadline time.Time) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		text, _ := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
		lines := strings.Split(string(text), "\n")
		if len(lines) > 7 && lines[0] == strconv.Itoa(s.cmd.Process.Pid) && strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case <-s.exited:
			return errExited
		case <-tick.C:
			if time.Now().After(deadline) {
				return fmt.Errorf("not ready after %v", startTime)
			}
		}
	}
}

// Stop ends the server in good order: sessions are ended, and what they were doing is
// undone.
func (s *Server) Stop() {
	s.t.Helper()
	s.signal(syscall.SIGINT)
	s.await()
}

// Kill kills all processes of the server, as a power failure does.
func (s *Server) Kill() {
	s.t.Helper()
	s.Pause() // it starts no process meanwhile
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	s.await()
	s.killed = true
}

// Pause stops all processes of the server until Resume: connections stay, and
// nothing answers.
func (s *Server) Pause() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP) // first the one that starts others
	for _, pid := range s.processes()[1:] {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
}

// Resume has the server go on after Pause.
func (s *Server) Resume() {
	s.t.Helper()
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// signal sends a signal to the first process of the server.
func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("signal PostgreSQL: %v\n%s", err, s.log())
	}
}

func (s *Server) await() {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(startTime):
		s.t.Fatalf("PostgreSQL does not end\n%s", s.log())
	}
}

// processes returns the first process of the server, and those that it started if
// the system tells.
func (s *Server) processes() []int {
	pid := s.cmd.Process.Pid
	all := []int{pid}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for _, child := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// remove ends the server, whatever its state, and removes its files.
func (s *Server) remove() {
	if s.cmd != nil {
		if s.killed { // a segment of shared memory is left over, which the next start removes
			s.Start()
		}
		select {
		case <-s.exited:
		default:
			s.Resume()
			s.signal(syscall.SIGQUIT)
			s.await()
		}
	}
	if s.t.Failed() {
		s.t.Logf("log of PostgreSQL:\n%s", s.log())
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Error(err)
	}
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// log returns the end of what the server has logged.
func (s *Server) log() []byte {
	const most = 4 << 10
	text, _ := os.ReadFile(s.logFile())
	text = text[max(0, len(text)-most):]
	return bytes.TrimSpace(text)
}
