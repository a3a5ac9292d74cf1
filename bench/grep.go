package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// grepper is a search tool that people run as a command for every question.
type grepper interface {
	name() string
	program() string
	// steps returns how to ask q, or why the tool cannot be asked.
	steps(q Query) (steps []step, cannot string)
	command(ctx context.Context, at workspace, args []string) *exec.Cmd
	// form returns how the tool prints what it finds.
	form(at workspace) outputForm
	decodesWide() bool
	sees(q Query) bool
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

// grepPeer is a peer that reads the files of the corpus itself.
type grepPeer struct{ grepper }

func (p grepPeer) programs() []string { return []string{p.program()} }

func (p grepPeer) version(ctx context.Context) string {
	return firstLine(exec.CommandContext(ctx, p.program(), "--version"))
}

func (p grepPeer) cannot(q Query) string {
	_, cannot := p.steps(q)
	return cannot
}

func (p grepPeer) reads(at workspace) []string { return []string{at.source.tree} }

func (p grepPeer) index(context.Context, workspace) (*IndexFacts, error) { return nil, nil }

func (p grepPeer) start(_ context.Context, at workspace) (engine, error) {
	return grepEngine{p.grepper, at}, nil
}

// grepEngine is a grepper before one corpus.
type grepEngine struct {
	grepper
	workspace
}

func (e grepEngine) skipped(context.Context) (map[string]bool, error) { return nil, nil }
func (e grepEngine) server() *process                                 { return nil }
func (e grepEngine) stop() error                                      { return nil }

func (e grepEngine) answer(ctx context.Context, q Query) (LineSet, error) {
	var out bytes.Buffer
	_, excluded, err := e.run(ctx, q, &out)
	if err != nil {
		return nil, err
	}
	set, err := readOutput(q, e.form(e.workspace), out.Bytes(), excluded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.name(), err)
	}
	return set, nil
}

func (e grepEngine) ask(ctx context.Context, q Query, limit int) (PeerRun, error) {
	if limit == 0 {
		run, _, err := e.run(ctx, q, io.Discard)
		return run, err
	}
	// As with "| head": a reader that has enough stops, and the tool ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	enough := &lineLimit{left: limit, reached: cancel}
	run, _, err := e.run(ctx, q, enough)
	if enough.left <= 0 {
		err = nil
	}
	return run, err
}

// lineLimit calls reached once so many lines were written to it.
type lineLimit struct {
	left    int
	reached func()
}

func (l *lineLimit) Write(p []byte) (int, error) {
	before := l.left
	l.left -= bytes.Count(p, []byte("\n"))
	if before > 0 && l.left <= 0 {
		l.reached()
	}
	return len(p), nil
}

// run runs the steps of q and writes the answer to out. The paths in the second
// result are to be dropped from it.
func (e grepEngine) run(ctx context.Context, q Query, out io.Writer) (PeerRun, map[string]bool, error) {
	var (
		start    = time.Now()
		arrival  = &firstByte{to: out, start: start}
		files    []string
		narrowed bool
		excluded = map[string]bool{}
	)
	took := func() PeerRun { return PeerRun{First: arrival.after, Done: time.Since(start)} }
	steps, _ := e.steps(q)
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
			if err := runPeer(e.command(ctx, e.workspace, args), to); err != nil {
				return took(), nil, err
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
	return took(), excluded, nil
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
