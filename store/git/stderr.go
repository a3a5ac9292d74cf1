package git

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/trawlsearch/trawl/store/redact"
)

// stderrTailBytes is how much of a child's standard error is kept.
const stderrTailBytes = 8 << 10

// stderrTail keeps the end of what a child writes to its standard error, and
// hands each line to progress. git redraws a line by ending it with a carriage
// return; each redrawing counts as a line.
type stderrTail struct {
	progress func(line string) // may be nil; called by the one goroutine that copies
	address  string            // of the remote, of which no secret is shown; may be empty
	heard    atomic.Int64      // bytes

	mu      sync.Mutex // a BlobReader looks while its child still runs
	kept    []byte
	partial []byte // the unfinished line, for progress
}

func (t *stderrTail) Write(p []byte) (int, error) {
	t.heard.Add(int64(len(p)))
	t.mu.Lock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - stderrTailBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	t.mu.Unlock()
	if t.progress != nil {
		t.report(p)
	}
	return len(p), nil
}

// ReadFrom copies by pieces of a kilobyte. io.Copy takes 32 KiB otherwise, for children
// most of which say nothing.
func (t *stderrTail) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{t}, struct{ io.Reader }{r}, make([]byte, 1<<10))
}

func (t *stderrTail) report(p []byte) {
	t.partial = append(t.partial, p...)
	for {
		end := bytes.IndexAny(t.partial, "\r\n")
		if end < 0 {
			break
		}
		if line := printable(redact.About(string(t.partial[:end]), t.address)); line != "" {
			t.progress(line)
		}
		t.partial = t.partial[end+1:]
	}
	if len(t.partial) > stderrTailBytes {
		t.partial = nil // no line of git's is that long
	}
}

func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return redact.About(string(t.kept), t.address)
}
