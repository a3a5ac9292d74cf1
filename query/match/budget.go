package match

import (
	"math"

	"github.com/trawlsearch/trawl/query/match/dfa"
)

// MaxSpans is how many matches are kept of one document, those of all patterns
// together. A text of nothing but matches would otherwise become fifty times as
// large as it is.
const MaxSpans = 1 << 18

// ErrStopped says that the work on a text was ended.
var ErrStopped = dfa.ErrStopped

// Budget bounds the work on one text, and reports what was left out. There are
// patterns whose matches take hours to find in a document of some megabytes. A
// Budget belongs to one goroutine; nil is no bound.
type Budget struct {
	// Done ends the work when it is closed.
	Done <-chan struct{}
	// Kept is how many matches of other patterns are kept of the document.
	Kept int
	// Cut says that there were more matches than are kept. The reader sets it
	// back.
	Cut bool

	spent int
	over  bool
}

// glanceBytes is how much work is done between two looks at Done: a millisecond
// or a few.
const glanceBytes = 1 << 20

// spend counts work, in bytes looked at, and reports whether to stop.
func (l *Budget) spend(work int) bool {
	if l == nil || l.Done == nil {
		return false
	}
	if l.spent += work; l.spent >= glanceBytes && !l.over {
		l.spent = 0
		select {
		case <-l.Done:
			l.over = true
		default:
		}
	}
	return l.over
}

// limit is how many matches of the next pattern are kept: at least one, so that
// the caller learns that the pattern matches.
func (l *Budget) limit() int {
	if l == nil {
		return math.MaxInt
	}
	return max(MaxSpans-l.Kept, 1)
}

// full reports whether as many matches were found as are kept, and remembers
// that. It is asked when there is one more.
func (l *Budget) full(found int) bool {
	if found < l.limit() {
		return false
	}
	l.Cut = true
	return true
}

// cut leaves of the spans from the n-th on as many as are kept.
func (l *Budget) cut(spans []Span, n int) []Span {
	if len(spans)-n <= l.limit() {
		return spans
	}
	l.full(len(spans) - n)
	return spans[:n+l.limit()]
}
