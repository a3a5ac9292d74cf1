package httpapi

import (
	"errors"
	"net/http"

	"github.com/trawlsearch/trawl/httpapi/auth"
	"github.com/trawlsearch/trawl/httpapi/stream"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/git"
	"github.com/trawlsearch/trawl/store/redact"
)

// Error is an answer other than the one asked for.
type Error struct {
	Status int
	// Message is shown to the client; it is not empty.
	Message string
	// Cause is logged and never shown.
	Cause error
	// Near are pages that a person may have meant, for the page about the error.
	Near []Near
}

// Near is a page near one that there is not. Path is below the server's URL, escaped.
type Near struct{ Text, Path string }

func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ErrSignIn leads a user who is not signed in to the sign-in page, and back
// again.
var ErrSignIn error = &Error{Status: http.StatusUnauthorized, Message: "sign in first"}

// internalError is all that a client learns of an error that is not its own.
const internalError = "internal error"

// sourceGone is the message about a repository that is indexed and whose git
// repository is not where it was.
const sourceGone = "the git repository behind this one cannot be found, so only what is indexed can be shown: look at its source on the server"

// sourceComing is the message about a repository whose mirror this node of several
// does not have yet.
const sourceComing = "the git repository behind this one is still being fetched, so only what is indexed can be shown: try again in a few seconds"

// What clients learn of git's bounds.
const (
	gitBusy      = "git is busy with other requests: try again in a few seconds"
	gitTooCostly = "this takes more of git's memory or time than one request may have, so it cannot be shown"
)

// statusOf returns what to answer a request that is not a stream.
func statusOf(err error) (status int, message string) {
	var known *Error
	if errors.As(err, &known) {
		return known.Status, redact.Text(known.Message)
	}
	var denied *auth.Denied
	if errors.As(err, &denied) {
		return denied.Status, denied.Message
	}
	switch {
	case errors.Is(err, store.ErrAway):
		return http.StatusServiceUnavailable, auth.NotCurrent
	case errors.Is(err, store.ErrFetching):
		return http.StatusServiceUnavailable, sourceComing
	case errors.Is(err, git.ErrNotRepository):
		return http.StatusServiceUnavailable, sourceGone
	case errors.Is(err, git.ErrBusy):
		return http.StatusServiceUnavailable, gitBusy
	case errors.Is(err, git.ErrTooCostly):
		return http.StatusRequestEntityTooLarge, gitTooCostly
	case errors.Is(err, stream.ErrTooMany):
		return http.StatusServiceUnavailable, err.Error()
	case errors.Is(err, stream.ErrCannotFlush):
		return http.StatusInternalServerError, err.Error()
	}
	return http.StatusInternalServerError, internalError
}
