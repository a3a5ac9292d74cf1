package query

import (
	"fmt"
	"strings"
)

// SyntaxError is a query text that does not parse or validate. Message is the
// short text clients compare; Span and Hint help people mend the query.
type SyntaxError struct {
	Message string
	// Span is where in the query text the trouble is; zero when it is the
	// query as a whole.
	Span Span
	// Hint is a corrected fragment or advice, empty when there is none.
	Hint string
	// Fix is what to write in place of Span, empty if that is not known.
	Fix string
	// Proposed is the whole query text mended, empty if there is no Fix.
	Proposed string
}

func (e *SyntaxError) Error() string { return Shorten(e.Message) }

// ContextError is a search context that does not exist.
type ContextError struct{ Name string }

func (e *ContextError) Error() string {
	return Shorten(fmt.Sprintf("search context %q not found", e.Name))
}

// What Shorten leaves of a long message: what it is about stands at its
// beginning, and where a quotation ends at its end.
const (
	headBytes = 400
	tailBytes = 100
)

// Shorten leaves out the middle of a message that quotes more than people read,
// such as a pattern of ten thousand parentheses.
func Shorten(message string) string {
	if len(message) <= headBytes+tailBytes {
		return message
	}
	head, tail := message[:headBytes], message[len(message)-tailBytes:]
	// Cut runes are left out, and so are bytes that were none.
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}
