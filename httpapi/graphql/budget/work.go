package budget

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
)

// What answers hold while they are made, in bytes. All of these are estimates
// that err upwards for large answers.
const (
	// AnswerBytes is what any answer holds: its document and a compressor.
	AnswerBytes = 1 << 20
	// DocumentCopies is how much larger a document is once two parsers have read
	// it, variableCopies how much larger its variables are.
	DocumentCopies = 64
	VariableCopies = 8
	// fieldBytes is what a field takes until the answer is whole: its name and a
	// short value, in copies.
	fieldBytes = 192
	// shownCopies is how often text is there while fields are put together: in the
	// buffer of its field, and twice where the buffer around that grows.
	shownCopies = 3
	// ReaderBytes are the buffers of a git process that reads objects, and what is
	// kept of what it has read.
	ReaderBytes = 2 << 20
	// growBytes is how much an answer asks for at once.
	growBytes = 256 << 10
)

// ErrBusy ends an answer that needs more memory than others leave to it.
var ErrBusy = errors.New("the answer needs more memory than others leave to it")

// errMemory ends an answer that needs more memory than there ever is for one.
var errMemory error = &fieldsError{wire.Refusal{Message: "the answer takes more memory than there is for one: ask for less, page by page"}}

// work is what an answer has of the server's processors and memory. One resolver
// of a document runs at a time, so that a document with hundreds of fields has one
// turn, as a page has.
type work struct {
	// admitted is nil where nothing is.
	admitted *httpapi.Work
	// resting says that there is no processor, since is when it was last offered to
	// others. Both belong to the resolver that runs.
	resting bool
	since   time.Time

	mu sync.Mutex // guards all below
	// free is what the work has and the answer does not hold yet, grown what the
	// work has beyond answerHolds.
	free, grown int
}

// yieldEvery is how long an answer is made before others may go first.
const yieldEvery = 5 * time.Millisecond

// take reports whether there are n bytes for the answer.
func (w *work) take(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free -= n; w.free >= 0 {
		return true
	}
	more := max(-w.free, growBytes)
	if !w.admitted.Grow(int64(more)) {
		w.free += n
		return false
	}
	w.free += more
	w.grown += more
	return true
}

// fits reports whether so many bytes more would fit if nobody else had any.
func (w *work) fits(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	most := w.admitted.Most()
	return most == 0 || int64(AnswerBytes+w.grown+max(n, growBytes)) <= most
}

// Give gives back what take took.
func (w *work) Give(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free += n
}

// Rest gives up the processor, for work that waits or has a turn of its own.
func (w *work) Rest() {
	w.admitted.Rest()
	w.resting = true
}

// Resume waits for a processor if there is none, and now and then gives it to
// others who are due. When ctx ends, so does the answer.
func (w *work) Resume(ctx context.Context) {
	switch {
	case w.resting:
		_ = w.admitted.Resume(ctx)
		w.resting = false
	case time.Since(w.since) > yieldEvery:
		_ = w.admitted.Yield(ctx)
	default:
		return
	}
	w.since = time.Now()
}

// Hold takes n bytes of the memory of all answers. Without them the answer ends.
func (b *Budget) Hold(n int) error {
	if b.take(n) {
		return nil
	}
	var err error = ErrBusy
	if !b.fits(n) {
		err = errMemory
	}
	b.Stop(err)
	return err
}
