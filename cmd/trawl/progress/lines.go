package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
)

// Lines returns a display that writes lines of text: one per phase, one every
// ten seconds while it lasts, one for the end. An error is not shown: it is
// the caller's to print.
func Lines(w io.Writer, now func() time.Time) *Display {
	return &Display{now: now, view: &lineView{w: w}}
}

type lineView struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (v *lineView) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.w.Write(p)
}

func (v *lineView) start(name string) taskView { return &lineTask{v, name} }

type lineTask struct {
	v    *lineView
	name string
}

// line writes a line and ignores the error: progress that cannot be shown does
// no harm.
func (t *lineTask) line(text string) { _, _ = fmt.Fprintf(t.v, "%s: %s\n", t.name, text) }

func (t *lineTask) report(p ingest.Progress, fresh bool) {
	if text := status(p); fresh && text != "" {
		t.line(text)
	}
}

func (t *lineTask) done(s Summary) { t.line(outcome(s)) }
func (t *lineTask) fail(error)     {}
