package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A repository is what strangers made: a pack of a kilobyte can hold files of
// gigabytes, a remote can fall silent, a file of a local repository can be a
// pipe without a writer. So every child has bounds. Its memory may grow with
// the files on disk, since git's own needs do (it holds a record of each commit
// it walks), but not with the size that a few bytes claim.
const (
	// childBytes is how much memory of its own a child may take, and half of the
	// repository's packs on top. Files that are mapped do not count.
	childBytes = 160 << 20
	// answerWithin is how long a child may keep us waiting for more output.
	answerWithin = 3 * time.Minute
	// commandWithin is how long a command may take whose output is short.
	commandWithin = 5 * time.Minute
)

// ErrTooCostly says that git took more memory or time for a repository than it
// may.
var ErrTooCostly = errors.New("git is ended")

var errSilent = fmt.Errorf("%w: no answer for %s", ErrTooCostly, answerWithin)

// frugal bounds the caches of children, and what they read whole instead of in
// pieces.
var frugal = []string{
	"-c", "core.deltaBaseCacheLimit=32m",
	"-c", "core.bigFileThreshold=32m",
	"-c", "pack.threads=2",
	"-c", "pack.windowMemory=32m",
	"-c", "pack.deltaCacheSize=16m",
}

// start starts a child and bounds its memory. It runs for some microseconds
// without a bound, in which it has read nothing yet. end ends it for want of
// budget; leave is to be called when it has ended.
func (b *Budget) start(cmd *exec.Cmd, end func(error)) (leave func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid, bound := cmd.Process.Pid, memoryFor(cmd)
	if b != nil && b.behind {
		lowerPriority(pid)
	}
	boundMemory(pid, bound)
	taken := func() int64 { return max(memoryOf(pid)-(bound-childBytes), 0) }
	return b.enter(&member{taken: taken, end: end}), nil
}

// memoryFor is what a child may take for the repository that its arguments
// name.
func memoryFor(cmd *exec.Cmd) int64 {
	for _, arg := range cmd.Args {
		if dir, ok := strings.CutPrefix(arg, "--git-dir="); ok {
			return childBytes + packBytes(dir)/2
		}
	}
	return childBytes
}

// packBytes is the size of the packs of a repository, those too that are being
// received.
func packBytes(gitDir string) int64 {
	entries, err := os.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	if err != nil {
		return 0
	}
	sum := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum
}

// outOfMemory reports whether a child died of its bound.
func outOfMemory(message string) bool {
	return strings.Contains(message, "ut of memory") || strings.Contains(message, "annot allocate memory") || strings.Contains(message, "unable to create thread")
}

// childReader is the output of a child. It ends a child that keeps its reader
// waiting for too long, and one whose output is not read for too long.
type childReader struct {
	*bufio.Reader
	out io.Reader
	// end ends the child for a reason.
	end func(error)
	// untaken is how long the output may lie there, 0 for ever.
	untaken time.Duration
	timer   *time.Timer // runs from one read to the next
}

// readBufferBytes is the read buffer of a child, as much as a pipe holds. Blobs that
// fit, nearly all, are handed out in place.
const readBufferBytes = 64 << 10

// readerOf is the buffered output of a child that end ends. What it reads is valid
// until the next read, and until its buffer is given back.
func (b *Budget) readerOf(stdout io.Reader, end func(error)) *childReader {
	r := &childReader{out: stdout, end: end, untaken: b.untaken()}
	if b != nil {
		r.Reader, _ = b.buffers.Get().(*bufio.Reader)
	}
	if r.Reader == nil {
		r.Reader = bufio.NewReaderSize(nil, readBufferBytes)
	}
	r.Reset(unbuffered{r})
	return r
}

// giveBack lends the buffer of a child that has ended to the next one: thousands of
// small repositories have some children each.
func (b *Budget) giveBack(r *childReader) {
	r.rest()
	r.Reset(nil)
	if b != nil {
		b.buffers.Put(r.Reader)
	}
	r.Reader = nil
}

// rest says that nothing is read for a while, since nothing was asked for.
func (r *childReader) rest() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// unbuffered reads from the child.
type unbuffered struct{ r *childReader }

func (u unbuffered) Read(b []byte) (int, error) {
	r := u.r
	r.rest()
	silent := time.AfterFunc(answerWithin, func() { r.end(errSilent) })
	n, err := r.out.Read(b)
	silent.Stop()
	switch {
	case r.untaken == 0 || err != nil:
	case r.timer == nil:
		r.timer = time.AfterFunc(r.untaken, func() { r.end(errUntaken) })
	default:
		r.timer.Reset(r.untaken)
	}
	return n, err
}

// within bounds the time of a command with a short answer.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: it took longer than %s", ErrTooCostly, limit))
}
