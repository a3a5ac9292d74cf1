package httpapi

import (
	"io"
	"net/http"
	"time"
)

// timeBodies has bodies arrive within a time: a client that sends one byte a
// minute holds a connection and a goroutine for as long as it likes otherwise.
// Answers are not held up, since the deadline goes with the end of the body.
func timeBodies(within time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		rc := http.NewResponseController(w)
		if err := rc.SetReadDeadline(time.Now().Add(within)); err == nil {
			timed := *r
			timed.Body = &timedBody{r.Body, rc}
			r = &timed
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody lifts the deadline when the body has been read.
type timedBody struct {
	io.ReadCloser
	rc *http.ResponseController
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.rc.SetReadDeadline(time.Time{}) // the connection is gone if it cannot be
	}
	return n, err
}
