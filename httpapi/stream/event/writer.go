package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/query"
)

// maxBytes is the most that clients read as one event: 16 bytes of frame,
// the name and the JSON.
const maxBytes = 10 << 20

const frameBytes = 16

// FullBytes is the size of the JSON from which a matches event is sent without
// waiting. UsualBytes is the memory of such an event, a size class of the runtime.
const (
	FullBytes  = 32768
	UsualBytes = FullBytes + FullBytes/4
)

// Output takes the events of a Writer. It is used by one goroutine.
type Output interface {
	// Send takes an event, whose bytes are valid until it returns.
	Send(event []byte) error
	// Flush makes what was sent leave, and End does so when nothing follows.
	Flush() error
	End() error
}

// Writer writes the events of one stream and alone knows their bytes:
//
//	event: NAME\n
//	data: JSON\n
//	\n
//
// It is used by one goroutine at a time. After a failed write every method returns the
// same error and writes nothing.
type Writer struct {
	out Output
	// trace is the URL that every progress event carries, empty for none.
	trace string
	// holding says that more events follow at once, so that they leave together.
	holding bool

	buf    []byte
	err    error
	events int
	bytes  int64
	done   bool
}

// NewWriter returns a writer whose progress events carry the URL of a trace, "" for none.
func NewWriter(out Output, trace string) *Writer { return &Writer{out: out, trace: trace} }

// Err returns why events cannot be written any more, nil if they can.
func (w *Writer) Err() error { return w.err }

// Sent returns how many events were written, and their bytes.
func (w *Writer) Sent() (events int, bytes int64) { return w.events, w.bytes }

// matchesFrame and matchesEnd stand around the match objects of an event.
const (
	matchesFrame = "event: matches\ndata: ["
	matchesEnd   = "]\n\n"
	// MatchesFrameBytes is what a matches event has beside its objects and commas.
	MatchesFrameBytes = len(matchesFrame) + len(matchesEnd)
)

// BeginMatches appends what a matches event begins with. Match objects follow,
// joined by commas.
func BeginMatches(dst []byte) []byte { return append(dst, matchesFrame...) }

// EndMatches appends what a matches event ends with.
func EndMatches(dst []byte) []byte { return append(dst, matchesEnd...) }

// IsFull reports whether a matches event that has not ended is to be sent without waiting.
func IsFull(event []byte) bool { return len(event)-len(matchesFrame)+len("[") >= FullBytes }

// FitsMatch reports whether an encoded match of n bytes fits an event in which others
// may precede it.
func FitsMatch(n int) bool { return fits("matches", FullBytes+n+2) }

// Matches writes an event made by BeginMatches and EndMatches. These events are
// most of a stream, so they are not copied into a frame.
func (w *Writer) Matches(event []byte) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return errAfterDone
	case len(event) > maxBytes:
		return fmt.Errorf("matches event of %d bytes is over the limit of %d", len(event), maxBytes)
	}
	return w.write(event)
}

// Filters writes the suggestions, or nothing if there are none. They are
// exhaustive only if final.
func (w *Writer) Filters(filters []query.SuggestedFilter, final bool) error {
	for len(filters) > 0 {
		data, err := json.Marshal(wireFilters(filters, final))
		if err != nil {
			return err
		}
		if fits("filters", len(data)) {
			return w.event("filters", data)
		}
		// The last ones count least.
		filters = filters[:len(filters)/2]
	}
	return w.err
}

// Progress writes the state of the search, which is done only if final.
func (w *Writer) Progress(p query.Progress, final bool) error {
	return w.encode("progress", NewProgress(p, w.trace, final))
}

// Alert writes what a person should know about the whole search.
func (w *Writer) Alert(a *query.Alert) error { return w.encode("alert", newWireAlert(a)) }

// Error writes why there is no answer.
func (w *Writer) Error(message string) error { return w.encode("error", Failure{message}) }

// Together has the events that f writes leave together: each write to a
// connection costs as much as a small search, and wakes the client.
func (w *Writer) Together(f func() error) error {
	outer := w.holding
	w.holding = true
	err := f()
	if w.holding = outer; w.err == nil && !w.holding {
		w.err = w.out.Flush()
	}
	if err == nil {
		err = w.err
	}
	return err
}

// Finish has the events that f writes leave together, as the end of the stream.
func (w *Writer) Finish(f func() error) {
	w.holding = true
	_ = f() // an event that could not be encoded does not keep the others
	if w.err == nil {
		w.err = w.out.End()
	}
}

// Done writes the last event.
func (w *Writer) Done() error {
	if w.done {
		return w.err
	}
	err := w.event("done", []byte("{}"))
	w.done = true
	return err
}

var errAfterDone = errors.New("an event follows done")

func (w *Writer) encode(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s event: %w", name, err)
	}
	return w.event(name, data)
}

func (w *Writer) event(name string, data []byte) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return errAfterDone
	case !fits(name, len(data)):
		return fmt.Errorf("%s event of %d bytes is over the limit of %d", name, len(data), maxBytes)
	}
	w.buf = append(append(w.buf[:0], "event: "...), name...)
	w.buf = append(append(w.buf, "\ndata: "...), data...)
	w.buf = append(w.buf, "\n\n"...)
	return w.write(w.buf)
}

// Split returns the name and the JSON of an event that was written.
func Split(event []byte) (name string, data []byte) {
	before, data, _ := bytes.Cut(event, []byte("\ndata: "))
	return string(bytes.TrimPrefix(before, []byte("event: "))), bytes.TrimSuffix(data, []byte("\n\n"))
}

func (w *Writer) write(event []byte) error {
	if w.err = w.out.Send(event); w.err == nil && !w.holding {
		w.err = w.out.Flush()
	}
	w.events++
	w.bytes += int64(len(event))
	return w.err
}

func fits(name string, dataBytes int) bool { return frameBytes+len(name)+dataBytes <= maxBytes }
