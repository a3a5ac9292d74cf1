package progress

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/trawlsearch/trawl/store/ingest"
)

// Bars returns a display for a terminal: a bar per task while it runs, a line
// of text when it is done. An error is the caller's to print.
func Bars(w io.Writer, now func() time.Time) *Display {
	return &Display{now: now, view: &barView{lines: lineView{w: w}}}
}

// barView has a container of bars only while there is a task, since a
// container wakes up several times a second.
type barView struct {
	lines lineView

	mu     sync.Mutex // guards the rest; bars are made and ended under it
	bars   *mpb.Progress
	active int
	// shown counts the bars of active tasks.
	shown int
}

func (v *barView) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bars != nil {
		if n, err := v.bars.Write(p); !errors.Is(err, mpb.ErrDone) {
			return n, err
		}
	}
	return v.lines.Write(p)
}

func (v *barView) start(name string) taskView {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bars == nil {
		v.bars = mpb.New(mpb.WithOutput(v.lines.w), mpb.WithAutoRefresh(), mpb.WithWidth(barWidth))
	}
	v.active++
	t := &barTask{v: v, name: name}
	if v.shown == mostBars {
		return t
	}
	v.shown++
	t.bar = v.bars.New(0, mpb.BarStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(name+" ", decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + t.status() })))
	return t
}

const (
	barWidth = 30
	// mostBars is how many tasks have a bar; those beside them are a line when they
	// are done.
	mostBars = 8
)

// end takes a bar away, if there is one, and the container with the last task.
func (v *barView) end(bar *mpb.Bar) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if bar != nil {
		bar.Abort(true)
		v.shown--
	}
	if v.active--; v.active == 0 {
		v.bars.Wait()
		v.bars = nil
	}
}

type barTask struct {
	v    *barView
	name string
	bar  *mpb.Bar // nil beside many others

	mu   sync.Mutex // guards text, which the container's goroutine reads
	text string
}

func (t *barTask) status() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text
}

func (t *barTask) report(p ingest.Progress, _ bool) {
	if text := status(p); text != "" {
		t.mu.Lock()
		t.text = text
		t.mu.Unlock()
	}
	if t.bar == nil {
		return
	}
	// One more than there are keeps the bar until the task ends.
	t.bar.SetTotal(int64(p.Total)+1, false)
	t.bar.SetCurrent(int64(p.Done))
}

func (t *barTask) done(s Summary) {
	t.v.end(t.bar)
	_, _ = fmt.Fprintf(t.v, "%s: %s\n", t.name, outcome(s)) // a lost line does no harm
}

func (t *barTask) fail(error) { t.v.end(t.bar) }
