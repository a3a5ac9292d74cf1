package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
)

// maxKeptBytes is the largest buffer for a bigger blob that is kept.
const maxKeptBytes = 16 << 20

// errDied says that git ended in the middle of its answers.
var errDied = errors.New("git ended early")

// batch is a running "git cat-file --batch": object ids go in by line, and
// "<oid> blob <size>\n<content>\n" comes out for each, in order. Measured on
// the Linux tree (78,635 blobs, 1.3 GB, 2 cores) its option --buffer gains
// nothing over this, and would hold back the answers until its input ends.
type batch struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *childReader
	stderr *stderrTail
	large  []byte // content that does not fit stdout's buffer

	mu     sync.Mutex // a context's end may meet stop
	reaped bool       // its process id is no longer ours to signal
	// busy is why it was ended for want of budget, if it was.
	busy   error
	leave  func()
	budget *Budget
}

// startBatch starts git with --batch, or with --batch-check for answers without
// content, which does not wait for others. No context ends it: its caller does,
// by stop.
func (g *runner) startBatch(ctx context.Context, mode string) (*batch, error) {
	if mode == "--batch" {
		if err := g.budget.wait(ctx); err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
	}
	cmd := g.command(context.Background(), "cat-file", mode)
	b := &batch{cmd: cmd, stderr: stderrOf(cmd), budget: g.budget}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if b.leave, err = g.budget.start(cmd, b.endBusy); err != nil {
		return nil, startError(context.Background(), "cat-file", err)
	}
	b.stdin, b.stdout = stdin, g.budget.readerOf(stdout, b.late)
	return b, nil
}

// kill ends git, if it still runs.
func (b *batch) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.reaped {
		_ = killProcessGroup(b.cmd)
	}
}

// endBusy kills git for want of budget.
func (b *batch) endBusy(why error) {
	b.mu.Lock()
	b.busy = why
	b.mu.Unlock()
	b.kill()
}

// late kills git, which does not answer or whose answer is not taken.
func (b *batch) late(why error) {
	if errors.Is(why, ErrBusy) {
		b.endBusy(why)
		return
	}
	b.kill()
}

// died is why git did not answer: errDied, or that it was ended for want of
// budget, which says nothing about the object.
func (b *batch) died() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy != nil {
		return fmt.Errorf("git cat-file: %w", b.busy)
	}
	return errDied
}

// stop kills git, reaps it and returns the last thing it said. It may have
// been killed before; it must be called once.
func (b *batch) stop() string {
	b.stdout.rest()
	b.kill()
	b.mu.Lock()
	b.reaped = true
	b.mu.Unlock()
	_ = b.cmd.Wait() // that it was killed is no news
	b.leave()
	b.budget.giveBack(b.stdout)
	return lastMessage(b.stderr.String())
}

// read asks for oids and calls f with each answer. It returns how many answers
// were complete. After an error the batch can only be stopped.
func (b *batch) read(ctx context.Context, oids []string, maxBytes int64, f func(i int, blob Blob) error) (done int, err error) {
	defer b.stdout.rest()
	unwatch := context.AfterFunc(ctx, b.kill)
	defer func() {
		if !unwatch() && err == nil {
			err = context.Cause(ctx) // killed behind the last answer
		}
	}()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		b.ask(oids)
	}()
	defer func() {
		if err != nil {
			b.kill() // or ask could wait for ever
		}
		<-asked
	}()
	for i, oid := range oids {
		blob, err := b.answer(oid, maxBytes)
		if cause := context.Cause(ctx); cause != nil {
			return i, fmt.Errorf("read blobs: %w", cause)
		}
		if err != nil {
			return i, err
		}
		if err := f(i, blob); err != nil {
			return i, err
		}
	}
	return len(oids), nil
}

// ask writes the requests. It ends early if git does; answer finds out.
func (b *batch) ask(oids []string) {
	w := bufio.NewWriterSize(b.stdin, 4<<10)
	for _, oid := range oids {
		w.WriteString(oid)
		w.WriteByte('\n')
	}
	w.Flush()
}

// answer reads the answer to one request. The blob's data is valid until the
// next answer.
func (b *batch) answer(oid string, maxBytes int64) (Blob, error) {
	blob, missing, err := b.line(oid, maxBytes)
	switch {
	case err != nil:
		return Blob{}, err
	case missing:
		return Blob{Err: fmt.Errorf("%w: %s", ErrMissing, oid)}, nil
	case blob.Err != nil:
		return blob, b.skip(blob.Size + 1)
	}
	blob.Data, err = b.content(blob.Size)
	return blob, err
}

// headOf reads the answer to one request of a batch without content. An object
// that is missing counts as good.
func (b *batch) headOf(oid string, maxBytes int64) (Blob, error) {
	blob, _, err := b.line(oid, maxBytes)
	return blob, err
}

// line reads what says of an object what it is, which is an Err if it is not to
// be read.
func (b *batch) line(oid string, maxBytes int64) (blob Blob, missing bool, err error) {
	line, err := b.stdout.ReadSlice('\n')
	if err != nil {
		return Blob{}, false, b.died()
	}
	id, rest, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if string(id) != oid {
		return Blob{}, false, fmt.Errorf("git cat-file answered %q for %s", printable(string(line)), oid)
	}
	kind, sizeText, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return Blob{}, true, nil
	}
	size, err := strconv.ParseInt(string(sizeText), 10, 64)
	if err != nil || size < 0 {
		return Blob{}, false, fmt.Errorf("git cat-file answered %q for %s", printable(string(line)), oid)
	}
	blob = Blob{Size: size}
	switch {
	case string(kind) != "blob":
		blob.Err = fmt.Errorf("%w: %s is a %s", ErrNotBlob, oid, kind)
	case size > maxBytes:
		blob.Err = tooLarge(oid, size, maxBytes)
	}
	return blob, false, nil
}

func tooLarge(oid string, size, maxBytes int64) error {
	return fmt.Errorf("%w: %s has %d bytes, the limit is %d", ErrTooLarge, oid, size, maxBytes)
}

// content reads a blob's content and the newline behind it. What fits the read
// buffer stays there: Discard only moves on, and leaves the bytes alone until
// the next read.
func (b *batch) content(size int64) ([]byte, error) {
	n := int(size)
	if n < b.stdout.Size() {
		data, err := b.stdout.Peek(n + 1)
		if err != nil {
			return nil, b.died()
		}
		_, err = b.stdout.Discard(n + 1)
		return data[:n:n], err
	}
	if cap(b.large) > maxKeptBytes || cap(b.large) < n {
		b.large = make([]byte, n)
	}
	data := b.large[:n:n]
	if _, err := io.ReadFull(b.stdout, data); err != nil {
		return nil, b.died()
	}
	return data, b.skip(1)
}

// skip reads n bytes and forgets them.
func (b *batch) skip(n int64) error {
	for n > 0 {
		step := int(min(n, 1<<30)) // Discard counts in int
		if _, err := b.stdout.Discard(step); err != nil {
			return b.died()
		}
		n -= int64(step)
	}
	return nil
}
