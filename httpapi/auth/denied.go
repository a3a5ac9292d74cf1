package auth

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Denied is an answer to a request that is not let in: text/plain, Message
// and a newline. It is not changed once made.
type Denied struct {
	Status  int
	Message string
	// Header is added to the answer.
	Header http.Header
	// Cause is for the log; it is nil where the message says all.
	Cause error
}

func (d *Denied) Error() string {
	if d.Cause != nil {
		return d.Message + ": " + d.Cause.Error()
	}
	return d.Message
}

func (d *Denied) Unwrap() error { return d.Cause }

// NeedsSignIn reports whether the request would get in if its sender had
// signed in.
func (d *Denied) NeedsSignIn() bool { return d == errPrivate }

// The refusals, in texts that clients know.
var (
	errPrivate = &Denied{
		Status: http.StatusUnauthorized, Message: "Private mode requires authentication.",
		Header: http.Header{"Www-Authenticate": {"Bearer"}},
	}
	errInvalidToken = &Denied{Status: http.StatusUnauthorized, Message: "Invalid access token."}
	errHeader       = &Denied{Status: http.StatusUnauthorized, Message: "Invalid Authorization header."}
	errTokensOff    = &Denied{Status: http.StatusUnauthorized, Message: "Access token authorization is disabled."}
	errSudoAdmin    = &Denied{Status: http.StatusForbidden, Message: "The subject user of a sudo access token must be a site admin."}
	errSudoNobody   = &Denied{Status: http.StatusForbidden, Message: "Unable to sudo to nonexistent user."}
	// errInvalidBearer is errInvalidToken as RFC 6750 has it.
	errInvalidBearer = &Denied{
		Status: http.StatusUnauthorized, Message: "Invalid access token.",
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}},
	}
	// errScope is a good bearer token with too little in it.
	errScope = &Denied{
		Status: http.StatusForbidden, Message: "The access token lacks the scope user:all.",
		Header: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="user:all"`}},
	}
	// errAgentScope is the same of a route for agents.
	errAgentScope = &Denied{
		Status: http.StatusForbidden, Message: "The access token lacks the scope mcp.",
		Header: http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="mcp"`}},
	}
	// errNotCurrent is the answer while a node of a cluster is not current.
	errNotCurrent = errAway(nil)
	errSiteAdmin  = &Denied{Status: http.StatusForbidden, Message: "must be site admin"}
)

func errSudo(cause error) *Denied {
	return &Denied{Status: http.StatusForbidden, Message: "Unable to sudo to the specified user due to an unexpected error.", Cause: cause}
}

// NotCurrent is what clients learn of a node that has lost the database of its cluster.
const NotCurrent = "this server cannot reach the database of its cluster, and so cannot know who may see what: try again"

func errAway(cause error) *Denied {
	return &Denied{Status: http.StatusServiceUnavailable, Message: NotCurrent, Header: http.Header{"Retry-After": {"1"}}, Cause: cause}
}

func errInternal(cause error) *Denied {
	return &Denied{Status: http.StatusInternalServerError, Message: "internal error", Cause: cause}
}

// TooMany is the answer to a client that is to come again after a while.
func TooMany(wait time.Duration) *Denied { return errTooMany(wait) }

func errTooMany(wait time.Duration) *Denied {
	seconds := max(int((wait+time.Second-1)/time.Second), 1)
	return &Denied{
		Status: http.StatusTooManyRequests, Message: fmt.Sprintf("Too many requests: try again in %d s.", seconds),
		Header: http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}
