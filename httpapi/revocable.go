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

// revocableWriter is the answer to a request whose credential may end. A client that
// reads slowly, or not at all, keeps a handler in Write, where it does not see
// that its context has ended; so from then on no deadline is later than
// endWithin.
type revocableWriter struct {
	http.ResponseWriter

	mu       sync.Mutex // guards all below, and setting a deadline
	until    time.Time  // zero before the credential has ended
	returned bool       // the handler has, and the connection may be another's
}

// newRevocableWriter returns w for a request with context ctx. The caller calls release
// when the handler has returned.
func newRevocableWriter(ctx context.Context, w http.ResponseWriter) *revocableWriter {
	out := &revocableWriter{ResponseWriter: w}
	auth.WhenEnded(ctx, out.revoke)
	return out
}

func (w *revocableWriter) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.returned = true
}

func (w *revocableWriter) revoke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.returned {
		return
	}
	w.until = time.Now().Add(endWithin)
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.until) // of a server that can
}

// SetWriteDeadline implements what http.ResponseController calls.
func (w *revocableWriter) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.until.IsZero() && (t.IsZero() || t.After(w.until)) {
		t = w.until
	}
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach what it wraps.
func (w *revocableWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
