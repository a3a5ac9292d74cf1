package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// peer is another search tool, as the command lines that ask it a query.
type peer interface {
	name() string
	// steps returns how to ask q, or why the tool cannot be asked.
	steps(q Query) (steps []step, cannot string)
	// decodesWide reports whether the tool reads UTF-16 files.
	decodesWide() bool
	// sees reports whether the tool finds all that q asks for; if not, what
	// it finds must still be part of the answer.
	sees(q Query) bool
	command(ctx context.Context, s *source, args []string) *exec.Cmd
}

// role says what becomes of a step's output.
type role uint8

const (
	// answer prints what is compared. It is the last step.
	answer role = iota
	// narrow prints the files that the next steps get as arguments.
	narrow
	// exclude prints files that are dropped from the answer.
	exclude
)

type step struct {
	role role
	args []string
}

// peers are the tools we know, by the name that users give.
var peers = []peer{ripgrep{}, gitGrep{}}

func findPeers(names []string) ([]peer, error) {
	var found []peer
	for _, name := range names {
		p, err := findPeer(name)
		if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	return found, nil
}

func findPeer(name string) (peer, error) {
	for _, p := range peers {
		if p.name() != name {
			continue
		}
		program, _, _ := strings.Cut(name, "-")
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("peer %s: %w", name, err)
		}
		return p, nil
	}
	return nil, fmt.Errorf("no peer %q; there are rg and git-grep", name)
}

// PeerRun is one run of a peer as whoever reads its output saw it.
type PeerRun struct {
	// First is when the first byte of the answer had arrived, 0 if none did.
	First time.Duration `json:"firstNanos"`
	Done  time.Duration `json:"doneNanos"`
}

// ask runs the steps of p and writes the answer to out. The paths in the second
// result are to be dropped from it.
func ask(ctx context.Context, p peer, s *source, steps []step, out io.Writer) (PeerRun, map[string]bool, error) {
	var (
		start    = time.Now()
		arrival  = &firstByte{to: out, start: start}
		files    []string
		narrowed bool
		excluded = map[string]bool{}
	)
	for _, st := range steps {
		if narrowed && len(files) == 0 {
			break
		}
		var to io.Writer = arrival
		var listed bytes.Buffer
		if st.role != answer {
			to = &listed
		}
		for _, args := range withFiles(st.args, files) {
			if err := runPeer(p.command(ctx, s, args), to); err != nil {
				return PeerRun{}, nil, err
			}
		}
		switch st.role {
		case narrow:
			files, narrowed = splitPaths(listed.Bytes()), true
		case exclude:
			for _, path := range splitPaths(listed.Bytes()) {
				excluded[path] = true
			}
		}
	}
	return PeerRun{First: arrival.after, Done: time.Since(start)}, excluded, nil
}

// maxArgBytes bounds the files given to one process; systems allow 2 MiB less
// the environment.
const maxArgBytes = 1 << 20

// withFiles returns args once for every batch of files that fits a command
// line, as xargs does, or once alone if there are no files to name.
func withFiles(args, files []string) [][]string {
	if len(files) == 0 {
		return [][]string{args}
	}
	var calls [][]string
	for len(files) > 0 {
		n, size := 0, 0
		for n < len(files) && (n == 0 || size+len(files[n])+9 <= maxArgBytes) {
			size += len(files[n]) + 9
			n++
		}
		calls = append(calls, append(args[:len(args):len(args)], files[:n]...))
		files = files[n:]
	}
	return calls
}

// runPeer runs cmd; like grep, a peer exits with 1 when it finds nothing.
func runPeer(cmd *exec.Cmd, to io.Writer) error {
	stderr := &tail{}
	cmd.Stdout, cmd.Stderr = to, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.String() == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, stderr)
	}
	return nil
}

// firstByte passes on what is written and notes when the first byte was.
type firstByte struct {
	to    io.Writer
	start time.Time
	after time.Duration
}

func (w *firstByte) Write(p []byte) (int, error) {
	if w.after == 0 && len(p) > 0 {
		w.after = time.Since(w.start)
	}
	return w.to.Write(p)
}
