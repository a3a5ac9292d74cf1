package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// mostFaults is how many faults of a repository are reported one by one.
const mostFaults = 5

// Verify reads a bare repository, every object and its references, and calls
// fault for each that is damaged or missing: the first few, and the number of
// the others. Merely odd objects, as in strangers' trees, are not reported.
// With quick it only lists the objects in packs and does not read them. Nothing
// may be fetched into the repository meanwhile. The error says why Verify could
// not finish.
func (b *Budget) Verify(ctx context.Context, dir string, quick bool, fault func(problem string)) (err error) {
	how := "--full"
	if quick {
		how = "--connectivity-only"
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cmd := (&runner{gitDir: dir}).command(ctx, "fsck", how, "--no-dangling", "--no-reflogs", "--progress")
	found := &faults{fault: fault, dir: dir, told: map[string]bool{}}
	// git reports faults in both outputs, and progress in the second.
	cmd.Stdout = &lines{each: found.line}
	tail := &stderrTail{progress: found.line}
	cmd.Stderr = tail
	err = b.watched(ctx, end, cmd, "fsck", watching(remote{}, dir, tail))
	found.more()
	var failed *CommandError
	if !errors.As(err, &failed) {
		return err
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == fsckOdd {
		return nil // it reported odd objects, or found reported the fault
	}
	if found.count == 0 {
		found.tell(failed.Message)
	}
	return nil
}

// fsckOdd is how git fsck ends when it has read all objects.
const fsckOdd = 1

// faults reports the faults that git fsck writes.
type faults struct {
	fault func(string)
	dir   string

	mu    sync.Mutex // its standard output and error are copied by two goroutines
	told  map[string]bool
	count int
}

// line takes a line such as "missing blob 1d0d1f1c…" or "error: packed 1d0d1f1c…
// is corrupt", but not "error in tree 04b3…: duplicateEntries: …".
func (f *faults) line(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, prefix := range []string{"missing ", "error: ", "fatal: "} {
		if strings.HasPrefix(text, prefix) {
			f.tell(strings.TrimPrefix(strings.TrimPrefix(text, "error: "), "fatal: "))
		}
	}
}

func (f *faults) tell(problem string) {
	problem = strings.ReplaceAll(problem, f.dir+"/", "")
	if f.told[problem] {
		return
	}
	if f.count++; f.count <= mostFaults {
		f.told[problem] = true
		f.fault(problem)
	}
}

// more reports the number of faults that were left out.
func (f *faults) more() {
	if n := f.count - mostFaults; n > 0 {
		f.fault(fmt.Sprintf("and %d more", n))
	}
}

// lines hands on what is written to it line by line. One that is too long to be
// git's own is passed over.
type lines struct {
	each func(string)
	part []byte
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		end := bytes.IndexByte(l.part, '\n')
		if end < 0 {
			break
		}
		if text := printable(string(l.part[:end])); text != "" {
			l.each(text)
		}
		l.part = l.part[end+1:]
	}
	if len(l.part) > stderrTailBytes {
		l.part = nil
	}
	return len(p), nil
}
