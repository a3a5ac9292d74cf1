package query

import "fmt"

// SyntaxError is a query text that does not parse or validate. Message is the
// short text clients compare; Span and Hint help people mend the query.
type SyntaxError struct {
	Message string
	// Span is where in the query text the trouble is; zero when it is the
	// query as a whole.
	Span Span
	// Hint is a corrected fragment or advice, empty when there is none.
	Hint string
}

func (e *SyntaxError) Error() string { return e.Message }

// ContextError is a search context that does not exist.
type ContextError struct{ Name string }

func (e *ContextError) Error() string { return fmt.Sprintf("search context %q not found", e.Name) }
