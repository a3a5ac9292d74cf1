package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trawlsearch/trawl/query"
)

// maxEventBytes is the most that clients read as one event: 16 bytes of frame,
// the name and the JSON.
const maxEventBytes = 10 << 20

const eventFrameBytes = 16

// eventWriter writes the events of one stream and alone knows their bytes:
//
//	event: NAME\n
//	data: JSON\n
//	\n
//
// It is used by one goroutine. After a failed write every method returns the
// same error and writes nothing.
type eventWriter struct {
	// send writes one event, flush makes what was written leave, and end does so
	// when nothing follows; without it flush does.
	send  func(event []byte) error
	flush func() error
	end   func() error
	// holding says that more events follow at once, so that they leave together.
	holding bool
	// trace is the URL that every progress event carries, empty for none.
	trace string

	buf    []byte
	err    error
	events int
	bytes  int64
	done   bool
}

// matchesFrame and matchesEnd stand around the match objects of an event.
const (
	matchesFrame      = "event: matches\ndata: ["
	matchesEnd        = "]\n\n"
	matchesFrameBytes = len(matchesFrame) + len(matchesEnd)
)

// beginMatches appends what a matches event begins with. Match objects follow,
// joined by commas.
func beginMatches(dst []byte) []byte { return append(dst, matchesFrame...) }

// endMatches appends what a matches event ends with.
func endMatches(dst []byte) []byte { return append(dst, matchesEnd...) }

// Matches writes an event made by beginMatches and endMatches. These events are
// most of a stream, so they are not copied into a frame.
func (e *eventWriter) Matches(event []byte) error {
	switch {
	case e.err != nil:
		return e.err
	case e.done:
		return errAfterDone
	case len(event) > maxEventBytes:
		return fmt.Errorf("matches event of %d bytes is over the limit of %d", len(event), maxEventBytes)
	}
	return e.write(event)
}

// Filters writes the suggestions, or nothing if there are none. They are
// exhaustive only if final.
func (e *eventWriter) Filters(filters []query.SuggestedFilter, final bool) error {
	for len(filters) > 0 {
		data, err := json.Marshal(wireFilters(filters, final))
		if err != nil {
			return err
		}
		if fitsEvent("filters", len(data)) {
			return e.event("filters", data)
		}
		// The last ones count least.
		filters = filters[:len(filters)/2]
	}
	return e.err
}

// Progress writes the state of the search, which is done only if final.
func (e *eventWriter) Progress(p query.Progress, final bool) error {
	return e.encode("progress", newWireProgress(p, e.trace, final))
}

// Alert writes what a person should know about the whole search.
func (e *eventWriter) Alert(a *query.Alert) error { return e.encode("alert", newWireAlert(a)) }

// Error writes why there is no answer.
func (e *eventWriter) Error(message string) error {
	return e.encode("error", wireError{message})
}

// Together has the events that f writes leave together: each write to a
// connection costs as much as a small search, and wakes the client.
func (e *eventWriter) Together(f func() error) error {
	outer := e.holding
	e.holding = true
	err := f()
	if e.holding = outer; e.err == nil && !e.holding {
		e.err = e.flush()
	}
	if err == nil {
		err = e.err
	}
	return err
}

// Last has the events that f writes leave together, as the end of the response.
func (e *eventWriter) Last(f func() error) {
	e.holding = true
	_ = f() // an event that could not be encoded does not keep the others
	if e.err != nil {
		return
	}
	if e.end == nil {
		e.end = e.flush
	}
	e.err = e.end()
}

// Done writes the last event.
func (e *eventWriter) Done() error {
	if e.done {
		return e.err
	}
	err := e.event("done", []byte("{}"))
	e.done = true
	return err
}

var errAfterDone = errors.New("an event follows done")

func (e *eventWriter) encode(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s event: %w", name, err)
	}
	return e.event(name, data)
}

func (e *eventWriter) event(name string, data []byte) error {
	switch {
	case e.err != nil:
		return e.err
	case e.done:
		return errAfterDone
	case !fitsEvent(name, len(data)):
		return fmt.Errorf("%s event of %d bytes is over the limit of %d", name, len(data), maxEventBytes)
	}
	e.buf = append(append(e.buf[:0], "event: "...), name...)
	e.buf = append(append(e.buf, "\ndata: "...), data...)
	e.buf = append(e.buf, "\n\n"...)
	return e.write(e.buf)
}

// splitEvent returns the name and the JSON of an event that was written.
func splitEvent(event []byte) (name string, data []byte) {
	before, data, _ := bytes.Cut(event, []byte("\ndata: "))
	return string(bytes.TrimPrefix(before, []byte("event: "))), bytes.TrimSuffix(data, []byte("\n\n"))
}

func (e *eventWriter) write(event []byte) error {
	if e.err = e.send(event); e.err == nil && !e.holding {
		e.err = e.flush()
	}
	e.events++
	e.bytes += int64(len(event))
	return e.err
}

func fitsEvent(name string, dataBytes int) bool {
	return eventFrameBytes+len(name)+dataBytes <= maxEventBytes
}
