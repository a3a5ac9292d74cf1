package progress

import (
	"io"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/store/ingest"
)

// Display shows any number of tasks. It is safe for concurrent use.
type Display struct {
	now  func() time.Time
	view view
}

// view is one way to show tasks. Its methods are called by many goroutines.
type view interface {
	start(name string) taskView
	io.Writer
}

// taskView shows one task; it is used by one goroutine at a time.
type taskView interface {
	// report shows p; fresh says that the phase is new, or long has passed
	// since a report was fresh.
	report(p ingest.Progress, fresh bool)
	done(Summary)
	fail(err error)
}

// Summary is what a task did.
type Summary struct {
	// Documents and TextBytes are what the repository has now.
	Documents int
	TextBytes int64
	// Added and Removed count documents.
	Added, Removed int
	Took           time.Duration
	// Note, if set, is shown in place of the counts.
	Note string
}

// changed reports whether there is anything to show.
func (s Summary) changed() bool { return s.Added+s.Removed > 0 }

// Write writes a line of something else, such as a log, without disturbing
// what is shown.
func (d *Display) Write(p []byte) (int, error) { return d.view.Write(p) }

// Start shows a new task. Its caller ends it with Done or Fail.
func (d *Display) Start(name string) *Task {
	return &Task{now: d.now, view: d.view.start(name)}
}

// Task is one sync that is shown. It is safe for concurrent use.
type Task struct {
	now func() time.Time

	mu    sync.Mutex // guards the rest and orders the calls of view
	view  taskView
	phase string
	shown time.Time
}

// showEvery is how often a view without bars shows that a phase goes on.
const showEvery = 10 * time.Second

// Report shows how far the task is.
func (t *Task) Report(p ingest.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	begins := p.Phase == "index" && p.Done == 0 // which the first document says as well
	fresh := !begins && (p.Phase != t.phase || now.Sub(t.shown) >= showEvery)
	if fresh {
		t.phase, t.shown = p.Phase, now
	}
	t.view.report(p, fresh)
}

// Done ends the task.
func (t *Task) Done(s Summary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view.done(s)
}

// Fail ends the task with an error.
func (t *Task) Fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.view.fail(err)
}
