package report

import (
	"strconv"
	"sync"
	"time"
)

// Trace records what one search did, for the page behind the trace link. The
// zero value is ready; a nil *Trace records nothing. It is safe for concurrent
// use.
type Trace struct {
	mu       sync.Mutex // guards all below; nothing but restLater is called while it is held
	steps    []Step
	coverage []Coverage
	rest     Rest
	// restLater, if not nil, gives rest, and holds restBytes until then.
	restLater func() Rest
	restBytes int
}

// Step is one recorded piece of work.
type Step struct {
	// Name is the name of the step: "parse", "plan shard 3", "verify".
	Name string
	// Start counts from the start of the search.
	Start, Took time.Duration
	Fields      []Field
	// Later, if set, gives the name and the fields when they are asked for: most
	// traces are never read. It is kept as long as the trace.
	Later func() (name string, fields []Field)
	// LaterBytes is about what Later keeps in memory.
	LaterBytes int
}

// Field is one fact about a step, such as how many posting lists it read.
type Field struct{ Key, Value string }

// Count returns a field that holds a number.
func Count(key string, n int) Field { return Field{Key: key, Value: strconv.Itoa(n)} }

// Text returns a field that holds a text.
func Text(key, value string) Field { return Field{Key: key, Value: value} }

// usualSteps is how many steps a search of a few shards has.
const usualSteps = 16

// Add records a step.
func (t *Trace) Add(s Step) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps == nil {
		t.steps = make([]Step, 0, usualSteps)
	}
	t.steps = append(t.steps, s)
}

// Rewind forgets the steps behind the first n, of a search that is run again.
func (t *Trace) Rewind(n int) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = t.steps[:min(n, len(t.steps))]
}

// Len returns how many steps there are.
func (t *Trace) Len() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.steps)
}

// Steps returns a copy of what has been recorded so far.
func (t *Trace) Steps() []Step {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.steps {
		if s := &t.steps[i]; s.Later != nil {
			s.Name, s.Fields = s.Later()
			s.Later, s.LaterBytes = nil, 0
		}
	}
	return append([]Step(nil), t.steps...)
}

// The sizes of a step, a field and the coverage of a revision beside their
// text, in bytes.
const (
	stepBytes     = 160
	fieldBytes    = 32
	coverageBytes = 160
)

// Bytes is about what has been recorded takes in memory.
func (t *Trace) Bytes() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, s := range t.steps {
		n += stepBytes + len(s.Name) + s.LaterBytes
		for _, f := range s.Fields {
			n += fieldBytes + len(f.Key) + len(f.Value)
		}
	}
	for _, c := range t.coverage {
		n += coverageBytes + len(c.Repository) + len(c.Revision) + len(c.Commit) + fieldBytes*len(c.Unsearched)
	}
	return n + t.restBytes
}

// Cover records what was looked at, once the search is over.
func (t *Trace) Cover(all []Coverage, rest Rest) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coverage, t.rest, t.restLater, t.restBytes = all, rest, nil, 0
}

// CoverLater is Cover with what else there was given when it is asked for: most traces
// are never read. It is kept as long as the trace, and holds about so many bytes.
func (t *Trace) CoverLater(all []Coverage, bytes int, rest func() Rest) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coverage, t.rest, t.restLater, t.restBytes = all, Rest{}, rest, bytes
}

// Coverage returns what was looked at, revision by revision, and what else was;
// nothing before the search is over. It is shared.
func (t *Trace) Coverage() ([]Coverage, Rest) {
	if t == nil {
		return nil, Rest{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.restLater != nil {
		t.rest, t.restLater, t.restBytes = t.restLater(), nil, 0
	}
	return t.coverage, t.rest
}
