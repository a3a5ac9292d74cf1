package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/trawlsearch/trawl/httpapi/auth"
)

// endWithin is how long an answer may still leave after its credential has
// ended: enough for the end of a stream, or for the answer to users who revoke
// their own token.
const endWithin = time.Second

// endingWriter is the answer to a request whose credential may end. A client that
// reads slowly, or not at all, keeps a handler in Write, where it does not see
// that its context has ended; so from then on no deadline is later than
// endWithin.
type endingWriter struct {
	http.ResponseWriter

	mu    sync.Mutex // guards all below, and setting a deadline
	until time.Time  // zero before the credential has ended
	over  bool       // the handler has returned, and the connection may be another's
}

// endWith returns w for a request with context ctx. The caller calls release when
// the handler has returned.
func endWith(ctx context.Context, w http.ResponseWriter) *endingWriter {
	e := &endingWriter{ResponseWriter: w}
	auth.WhenEnded(ctx, e.end)
	return e
}

func (e *endingWriter) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
}

func (e *endingWriter) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return
	}
	e.until = time.Now().Add(endWithin)
	_ = http.NewResponseController(e.ResponseWriter).SetWriteDeadline(e.until) // of a server that can
}

// SetWriteDeadline implements what http.ResponseController calls.
func (e *endingWriter) SetWriteDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.until.IsZero() && (t.IsZero() || t.After(e.until)) {
		t = e.until
	}
	return http.NewResponseController(e.ResponseWriter).SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach what it wraps.
func (e *endingWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }
