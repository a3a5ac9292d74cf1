package stream

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/trawlsearch/trawl/query"
	"github.com/trawlsearch/trawl/query/search"
)

// The reasons for which Admit refuses an answer.
var (
	ErrTooMany     = errors.New("too many searches are being read; try again in a moment")
	ErrCannotFlush = errors.New("http flushing not supported")
)

// internalError is all that a client learns of an error that is not its own.
const internalError = "internal error"

// requestError is a parameter that is checked with the query and not by DecodeParams; its
// text is shown.
type requestError struct{ cause error }

func (e *requestError) Error() string { return e.cause.Error() }

// Explain turns an error of a query into the alert or, if there is none for it, the
// message that tells the client what is wrong. ok is false for an error that is not the
// client's own.
func Explain(err error) (alert *query.Alert, message string, ok bool) {
	var syntax *query.SyntaxError
	if errors.As(err, &syntax) {
		return queryAlert(syntax), "", true
	}
	var request *requestError
	if errors.As(err, &request) {
		return nil, request.Error(), true
	}
	var scope *query.ContextError
	if errors.As(err, &scope) {
		return nil, scope.Error(), true
	}
	return nil, "", false
}

// queryAlert is the alert for a query that does not parse or validate.
func queryAlert(err *query.SyntaxError) *query.Alert {
	a := search.QueryAlert(err)
	if strings.HasPrefix(err.Message, "expected operand") {
		a.Description = "I'm having trouble understanding that query. Putting parentheses around the search pattern may help."
	}
	return a
}

// panicError is a broken invariant that was caught.
type panicError struct {
	value any
	stack []byte
}

func newPanicError(value any) *panicError { return &panicError{value, debug.Stack()} }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

func isPanic(err error) bool {
	var p *panicError
	return errors.As(err, &p)
}

// The reasons of searches that were cut short.
var (
	serverClosing = query.Skipped{
		Reason:   "server-closing",
		Title:    "server closing",
		Message:  "The server is shutting down and ended this search early. Search again in a moment.",
		Severity: "warn",
	}
	credentialEnded = query.Skipped{
		Reason:   "credential-ended",
		Title:    "credential ended",
		Message:  "The token or session of this search has ended or may see less than it could, and the search ended with it. Search again, signed in or with another token.",
		Severity: "warn",
	}
	searchFailed = query.Skipped{
		Reason:   "search-error",
		Title:    "search failed",
		Message:  "The search failed before it had looked at everything. The server's log tells why.",
		Severity: "warn",
	}
)
